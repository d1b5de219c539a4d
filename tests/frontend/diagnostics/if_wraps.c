void f(int a[8]) {
  for (unsigned i = 0; i < 8; i++)
    if (i - 1 < 3) a[i] = 0;
}
