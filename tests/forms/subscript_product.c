/* Products of iterators, few of them. */
void table(int products[37])
{
  for (int i = 1; i <= 6; i++)
    for (int j = i; j <= 6; j++)
      products[i * j] += i;
}
