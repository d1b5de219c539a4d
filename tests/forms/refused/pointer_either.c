/* A pointer into one of two arrays is compared with the end of one of them. */
int f(int c, int a[8], int b[8])
{
  int s = 0;
  for (int *p = c > 0 ? a : b; p < a + 8; p++)
    s += *p;
  return s;
}
