/* C = alpha * A * B + beta * C, in single precision. */

#ifndef N
#define N 16
#endif

void fgemm(float alpha, float beta, const float A[N][N], const float B[N][N], float C[N][N])
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < N; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
}
