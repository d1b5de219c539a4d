// Several lower and upper bounds at a level, slopes other than 1, rows that are empty.
int hexagon[9][9], diagonals[11], wedge[20][4], late[9][9], narrow[8][12], skewed[6][17];

void slopes(const int in[12][20]) {
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++)
      if (i - 3 <= j && j <= i + 4)
        hexagon[i][j] = in[j][i] * 3 - hexagon[i][j];
  for (int d = 0; d < 10; d++)
    for (int i = 0; i < 6; i++)
      if (d - i >= 0 && d - i < 5)
        diagonals[d] = diagonals[d] * 5 + in[i][d - i];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 4; j++)
      if (5 * j <= i)
        wedge[i][j] += in[j][i] - i;
  for (int i = 0; i < 9; i++)
    for (int j = 4; j < i; j++)
      late[i][j] = in[i][j] ^ i * j;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 12; j++)
      if (3 * j >= 11 - 2 * i && 2 * j <= 20 - i)
        narrow[i][j] = in[j][i] - narrow[i][j] * 7;
  for (int t = 0; t < 6; t++)
    for (int x = 2 * t; x < 2 * t + 7; x++)
      skewed[t][x] = in[t][x] * t + skewed[t][x];
}
