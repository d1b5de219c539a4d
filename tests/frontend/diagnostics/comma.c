void f(int a[8][8], int b[8], int n) {
  b[2] = abs((n++, n));
}
