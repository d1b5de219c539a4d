/* A helper that returns from its loop. */
static int rank(const int sorted[10], int x)
{
  for (int i = 0; i < 10; i++) {
    if (sorted[i] >= x)
      return i;
  }
  return 10;
}
void ranks(const int sorted[10], const int x[6], int rank_of[6])
{
  for (int i = 0; i < 6; i++)
    rank_of[i] = rank(sorted, x[i]);
}
