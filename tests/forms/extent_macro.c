/* log2 in a size. */
#define LOG2(n) ((n) < 2 ? 0 : (n) < 4 ? 1 : (n) < 8 ? 2 : 3)
#define N 8
void levels(const int x[N], int out[LOG2(N) + 1])
{
  int sums[LOG2(N) + 1][N];
  for (int i = 0; i < N; i++)
    sums[0][i] = x[i];
  for (int l = 1; l <= LOG2(N); l++)
    for (int i = 0; i < N >> l; i++)
      sums[l][i] = sums[l - 1][2 * i] + sums[l - 1][2 * i + 1];
  for (int l = 0; l <= LOG2(N); l++)
    out[l] = sums[l][0];
}
