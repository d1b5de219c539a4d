int f(int a[8]) {
  if (1) return 3;
  a[0] = 1;
  return a[0];
}
