/* The mean of integers. */
double mean(const int x[24], int n)
{
  long sum = 0;
  for (int i = 0; i < 24; i++)
    sum += x[i];
  return n > 0 ? (double)sum / n : 0.0;
}
