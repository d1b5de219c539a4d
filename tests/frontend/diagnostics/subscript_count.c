void f(int a[8][8], int b[8], int n) {
  a[1] = 0;
  b[1][2] = 0;
  n[0] = 1;
  b[0] = a;
}
