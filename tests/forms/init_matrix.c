/* Rows without their braces. */
void rotate(const int p[8][3], int q[8][3])
{
  int r[3][3] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
  for (int n = 0; n < 8; n++)
    for (int i = 0; i < 3; i++) {
      q[n][i] = 0;
      for (int j = 0; j < 3; j++)
        q[n][i] += r[i][j] * p[n][j];
    }
}
