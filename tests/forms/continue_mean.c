/* The mean of what is valid. */
int mean(const int x[20], const _Bool valid[20])
{
  int sum = 0, n = 0;
  for (int i = 0; i < 20; i++) {
    if (!valid[i])
      continue;
    sum += x[i] >> 8;
    n++;
  }
  return n ? sum / n : 0;
}
