/* The lower triangle of C = beta * C + alpha * (A * B' + B * A'). */

#ifndef N
#define N 8
#endif

void syr2k(int alpha, int beta, int A[N][N], int B[N][N], int C[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < N; k++)
        C[i][j] += alpha * (A[i][k] * B[j][k] + B[i][k] * A[j][k]);
    }
#pragma endscop
}
