/* Sums of digits until one digit is left. */
int root(unsigned x)
{
  int rounds = 0;
#pragma rtlgen bound 4
  while (x > 9) {
    unsigned sum = 0;
    while (x) {
      sum += x % 10;
      x /= 10;
    }
    x = sum;
    rounds++;
  }
  return 10 * rounds + x;
}
