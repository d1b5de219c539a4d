/* C = beta * C + alpha * A * B, where A is symmetric and its lower triangle is stored. */

#ifndef N
#define N 8
#endif

void symm(int alpha, int beta, int A[N][N], int B[N][N], int C[N][N])
{
  int upper;

#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      upper = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        upper += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * upper;
    }
#pragma endscop
}
