void f(long double a[8], double _Complex x) {
  a[0] = x;
}
