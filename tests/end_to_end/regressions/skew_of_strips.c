/* Loops in strips have one iterator more than in C, and are looked at for skewed loops. */
void skew_of_strips(int c, int in[7][4], int b0[7][4], int b1[7][4])
{
  for (int i = 1; i < 7; i++)
    for (int j = 1; j < 4; j++)
      b0[i][j] = in[6 - i][j] * 3 + in[i][3 - j] * 5 + b0[i - 1][j] + b0[i][j - 1] * 3 + 6;
  for (int i = 6; i >= 0; i--)
    for (int j = 0; j < 3; j++)
      b1[i][j] = (b0[6 - i][3 - j] * 2 + b0[6 - i][j] * 5 + 3) * c;
}
