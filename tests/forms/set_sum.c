/* Running sums, stored on the way. */
int sums(const int x[8], int s[8], int t[8])
{
  int all = 0, last;
  for (int i = 0; i < 8; i++)
    t[i] = (s[i] = x[i] * 5) - (last = x[i] >> 2) + (all += 3);
  return all + last;
}
