/* A mask that is shifted out of its word. */
int transitions(unsigned x)
{
  int n = 0, last = 0;
  for (unsigned mask = 1; mask != 0; mask <<= 1) {
    int now = (x & mask) != 0;
    n += now != last;
    last = now;
  }
  return n;
}
