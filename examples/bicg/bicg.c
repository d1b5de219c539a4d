/* s = A^T * r and q = A * p, the kernel of the biconjugate gradient method. */

#ifndef N
#define N 8
#endif

void bicg(int A[N][N], int s[N], int q[N], int p[N], int r[N])
{
#pragma scop
  for (int j = 0; j < N; j++)
    s[j] = 0;
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    for (int j = 0; j < N; j++) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
#pragma endscop
}
