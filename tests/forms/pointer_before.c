/* Subscripts below 0. */
void deltas(const int x[16], int d[16])
{
  const int *p = &x[1];
  d[0] = p[-1];
  for (int i = 1; i < 16; i++, p++)
    d[i] = p[0] - p[-1];
}
