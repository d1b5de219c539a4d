/* Collatz: nobody knows how long it takes. */
int steps(unsigned n)
{
  int k = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    k++;
  }
  return k;
}
