/* A triangle that is stored row by row. */
void pack(const int m[6][6], int packed[21])
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++)
      packed[i * (i + 1) / 2 + j] = m[i][j];
}
