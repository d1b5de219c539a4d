void f(int a[8], ...) {
  static int count;
  volatile int v;
  extern int e;
  a[0] = count + v + e;
}
