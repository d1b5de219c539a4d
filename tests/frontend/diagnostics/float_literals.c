int f(int a[8]) {
  int half = 0.5;
  for (int i = 0; i < 8; i++) a[i] = a[i] * 2.0;
  a[0] = 1.0 + 1.0;
  return half;
}
