void f(int a[8], ...) {
  extern int count;
  _Atomic int v;
  register int e = 0;
  a[0] = count + v + e;
}
