/* Scores of a global alignment: scalars of an iteration, and a recurrence along both loops. */
void alignment(const char a[40], const char b[40], int m[41][41])
{
  for (int i = 0; i <= 40; i++) m[i][0] = -i;
  for (int j = 0; j <= 40; j++) m[0][j] = -j;
  for (int i = 1; i <= 40; i++)
    for (int j = 1; j <= 40; j++) {
      int d = m[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 1 : -1);
      int u = m[i - 1][j] - 1;
      int l = m[i][j - 1] - 1;
      int best = d > u ? d : u;
      m[i][j] = best > l ? best : l;
    }
}
