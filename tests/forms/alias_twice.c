/* One array is given twice. */
static void add(int *out, const int *a, const int *b)
{
  for (int i = 0; i < 8; i++)
    out[i] = a[i] + b[i];
}
void twice(int x[8], const int y[8])
{
  add(x, x, y);
  add(x, x, x);
}
