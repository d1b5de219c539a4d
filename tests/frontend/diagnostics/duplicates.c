void f(int a[8][8], int b[8], int n) {
  int t;
  int t;
S1:
  b[0] = t;
  b[1] = t;
}
