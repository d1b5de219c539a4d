/* Newton's iteration, until nothing changes. */
unsigned root(unsigned n)
{
  unsigned x = n, last;
  if (n == 0)
    return 0;
  do {
    last = x;
    x = (x + n / x) / 2;
  } while (x < last);
  return last;
}
