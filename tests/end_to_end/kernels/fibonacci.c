unsigned fibonacci(void) {
  unsigned a = 0, b = 1, t;
  for (int i = 0; i < 20; i++) {
    t = a + b;
    a = b;
    b = t;
  }
  return a;
}
