/* A column by a stride. */
int column_sum(const int *m)
{
  const int *p = m + 2;
  int sum = 0;
  for (int i = 0; i < 6; i++) {
    sum += *p;
    p += 7;
  }
  return sum;
}
