/* Scores of a local alignment with gaps, by Gotoh: a row of gaps, scalars of a row and of an iteration. */
#ifndef N
#define N 40
#define M 40
#endif
int gaps(const signed char a[N], const signed char b[M], short h[N + 1][M + 1])
{
  short e[M + 1];
  int most = 0;
  for (int j = 0; j <= M; j++) { h[0][j] = 0; e[j] = -1000; }
  for (int i = 1; i <= N; i++) {
    short f = -1000, left = 0;
    signed char c = a[i - 1];
    h[i][0] = 0;
    for (int j = 1; j <= M; j++) {
      short down = e[j] - 1, opened = h[i - 1][j] - 3;
      down = down > opened ? down : opened;
      short on = f - 1, begun = left - 3;
      f = on > begun ? on : begun;
      short m = h[i - 1][j - 1] + (c == b[j - 1] ? 2 : -1);
      m = m > down ? m : down;
      m = m > f ? m : f;
      if (m < 0) m = 0;
      h[i][j] = m;
      left = m;
      e[j] = down;
      if (m > most) most = m;
    }
  }
  return most;
}
