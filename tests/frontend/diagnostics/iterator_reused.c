void f(int a[8][8], int b[8], int n) {
  int i;
  for (i = 0; i < 8; i++)
    for (i = 0; i < 8; i++)
      b[i] = 0;
}
