/* A position runs on over guarded loops. */
int keep(const int x[24], int out[24])
{
  int k = 0;
  for (int i = 0; i < 12; i++)
    if (i % 3 != 1)
      out[k++] = x[i];
  for (int i = 12; i < 24; i += 2) {
    out[k++] = x[i];
    if (i >= 18)
      out[k++] = -x[i];
  }
  return k;
}
