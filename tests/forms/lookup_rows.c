/* Sparse rows: columns and ends of rows are handed over, and nobody says that they are inside. */
void spmv(const int value[40], const int column[40], const unsigned char end[12],
          const int x[20], int y[12])
{
  int from = 0;
  for (int i = 0; i < 12; i++) {
    int sum = 0;
    for (int j = from; j < end[i]; j++)
      sum += value[j] * x[column[j]];
    from = end[i];
    y[i] = sum;
  }
}
