void f(int n, int m, int a[n][2 * m]) {
  a[0][0] = 1;
}
