/* As many as the data says. */
int total(const int x[64], const int count[4])
{
  int sum = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < count[i]; j++)
      sum += x[i] * j;
  return sum;
}
