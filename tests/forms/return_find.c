/* Where a value stands in a matrix. */
int find(const int m[4][6], int value)
{
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++)
      if (m[i][j] == value)
        return i * 6 + j;
  return -1;
}
