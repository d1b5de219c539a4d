/* Skip the rest of a row. */
int row_minima(const int m[5][6], int least[5])
{
  int negative = 0;
  for (int i = 0; i < 5; i++) {
    int low = m[i][0];
    for (int j = 0; j < 6; j++) {
      if (m[i][j] < 0) {
        negative++;
        goto next;
      }
      if (m[i][j] < low)
        low = m[i][j];
    }
    least[i] = low;
  next:;
  }
  return negative;
}
