void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      if (i != 1 && j != 2 && i != 3 && j != 4 && i != 5) a[i][j] = n;
}
