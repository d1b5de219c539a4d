void f(const int skip[8], int b[8]) {
  for (int i = 0; i < 8; i++) {
    b[i] = 0;
    i += skip[i];
  }
}
