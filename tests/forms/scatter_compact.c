/* What is kept is written next to what was kept. */
int keep(const int x[16], int out[16])
{
  int n = 0;
  for (int i = 0; i < 16; i++)
    if (x[i] > 0)
      out[n++] = x[i];
  return n;
}
