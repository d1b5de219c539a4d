void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < 80; i++)
    for (int j = i * i; j < 8; j++)
      a[i][0] += 1;
}
