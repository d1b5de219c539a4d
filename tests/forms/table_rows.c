/* Rows are ordered by their first elements, without moving them. */
void ordered(int m[4][6], int sums[6])
{
  int *rows[4];
  for (int i = 0; i < 4; i++)
    rows[i] = m[i];
  for (int k = 0; k < 3; k++)
    if (*rows[k] > *rows[k + 1]) {
      int *swapped = rows[k];
      rows[k] = rows[k + 1];
      rows[k + 1] = swapped;
    }
  for (int j = 0; j < 6; j++)
    sums[j] = rows[3][j] - rows[0][j];
}
