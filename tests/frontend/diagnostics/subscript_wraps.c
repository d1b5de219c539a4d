void f(int a[8]) {
  for (unsigned i = 0; i < 8; i++)
    a[(i - 1) / 2] = 0;
}
