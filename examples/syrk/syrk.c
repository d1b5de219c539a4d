/* The lower triangle of C = beta * C + alpha * A * A'. */

#ifndef N
#define N 8
#endif

void syrk(int alpha, int beta, int A[N][N], int C[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < N; k++)
        C[i][j] += alpha * A[i][k] * A[j][k];
    }
#pragma endscop
}
