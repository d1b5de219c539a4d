/* Out of two loops at once. */
int pair(const int x[12], int sum)
{
  int i, j;
  for (i = 0; i < 12; i++)
    for (j = i + 1; j < 12; j++)
      if (x[i] + x[j] == sum)
        goto found;
  return -1;
found:
  return 100 * i + j;
}
