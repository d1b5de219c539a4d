void f(int a[12], int b[12], int c[6][6]) {
  for (int i = 0; i < 12; i++)
    a[i] += i > 0 ? a[i - 1] : 0;
  for (int i = 0; i < 12; i++)
    b[i] += i > 0 ? a[i - 1] : 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      c[i][j] += (i > 0 ? c[i - 1][j] : 1) ^ (j > 0 ? c[i][j - 1] : 2);
}
