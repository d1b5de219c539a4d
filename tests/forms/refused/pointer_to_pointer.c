/* Rows that lie anywhere. */
int sum(int **rows)
{
  int total = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      total += rows[i][j];
  return total;
}
