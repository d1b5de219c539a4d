void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 8; j++)
      a[5 * i / 37][j % 2] = a[i][j] + b[i & 1];
}
