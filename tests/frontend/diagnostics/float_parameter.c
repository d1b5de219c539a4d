void f(float a[8], double x) {
  a[0] = x;
}
