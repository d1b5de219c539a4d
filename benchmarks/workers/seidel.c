/* Sweeps over one array; each element becomes the mean of nine. */

#ifndef N
#define N 64
#endif
#ifndef T
#define T 20
#endif

void seidel(int A[N][N])
{
  for (int t = 0; t < T; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j]
                   + A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9;
}
