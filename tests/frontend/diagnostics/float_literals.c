int f(int a[8]) {
  int half = 0.5L;
  for (int i = 0; i < 8; i++) a[i] = a[i] * 2.0L;
  a[0] = 1.0l + 1;
  return half;
}
