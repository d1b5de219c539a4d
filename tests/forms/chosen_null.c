/* A pointer to the best row, or to none */
int best(const int rows[6][8], int least)
{
  const int *found = 0;
  for (int i = 0; i < 6; i++)
    if (rows[i][0] > least && (!found || rows[i][0] > found[0]))
      found = rows[i];
  if (!found)
    return -1;
  int sum = 0;
  for (int k = 0; k < 8; k++)
    sum += found[k];
  return sum;
}
