int f(int c, int k, int i, int b[16])
{
  int *p = c ? &b[k & 15] : &b[i & 15];
  *p += 1;
  return *p;
}
