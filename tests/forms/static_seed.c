/* A generator that remembers. */
static unsigned next(void)
{
  static unsigned x;
  x = x * 1664525u + 1013904223u;
  return x >> 24;
}
void fill(unsigned char a[12])
{
  for (int i = 0; i < 12; i++)
    a[i] = next();
}
