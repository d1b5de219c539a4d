/* Differences, but not of neighbours that are equal. */
int steps(const int x[16])
{
  int i = 0, sum = 0;
  do {
    if (x[i] == x[i + 1])
      continue;
    int d = x[i + 1] - x[i];
    sum += d < 0 ? -d : d;
  } while (++i < 15);
  return sum;
}
