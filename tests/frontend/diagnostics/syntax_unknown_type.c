void f(u32 a[8]) {
  a[0] = 1;
}
