void f(int a[8][8], int b[8], int n, int *c) {
  b[1] = &n;
  b[0] = *n;
  *c++ = 1;
  c = c + 1;
  int *p = b;
  p += 2;
  b[3] = p;
  b[2] = c[1][2];
}
