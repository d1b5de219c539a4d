/* Sweeps over two arrays by turns; each element becomes the mean of five. */

#ifndef N
#define N 64
#endif
#ifndef T
#define T 20
#endif

void jacobi2d(int A[N][N], int B[N][N])
{
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        B[i][j] = (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]) / 5;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]) / 5;
  }
}
