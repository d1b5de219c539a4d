// Tiles that do not divide the loops, skewed tiles, and wavefronts of them.
int rectangular[10][7], skewed[5][11], wavefronts[9][9];

void tiles(const int in[12][12]) {
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 2; b++)
      for (int i = 4 * a; i < 4 * a + 4 && i < 10; i++)
        for (int j = 4 * b; j < 4 * b + 4 && j < 7; j++)
          rectangular[i][j] = in[j][i] * 9 - i;
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 3; b++)
      for (int i = 3 * a; i < 3 * a + 3 && i < 5; i++)
        for (int j = 4 * b; j < 4 * b + 4; j++)
          if (j >= i && j < i + 6)
            skewed[i][j] += in[i][j] + j;
  for (int t1 = 0; t1 < 6; t1++)
    for (int t2 = 0; t2 < 3; t2++)
      for (int t3 = 4 * t2; t3 < 4 * t2 + 4; t3++)
        for (int t4 = 4 * t1 - 4 * t2; t4 < 4 * t1 - 4 * t2 + 4; t4++)
          if (t3 < 9 && t4 - t3 >= 1 && t4 - t3 < 9)
            wavefronts[t3][t4 - t3] = in[t4 - t3][t3] * 3 + in[t3][t4 - t3 - 1];
}
