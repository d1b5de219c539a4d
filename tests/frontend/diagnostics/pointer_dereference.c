void f(int a[8][8], int b[8], int n) {
  *b = 1;
  b[0] = *a[0];
  b[1] = &n;
}
