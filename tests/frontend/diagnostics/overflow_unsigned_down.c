void f(int a[8][8], int b[8], int n) {
  for (unsigned i = 7; i >= 0; i--)
    b[i] = 0;
}
