static int first(const int *p) { return p[0]; }
int f(const int a[16], const int b[16], int c)
{
  return c > 0 && first(c & 1 ? a : b);
}
