/* Sweeps of Jacobi's method for A * x = b, in single precision. */

#define N 12
#define SWEEPS 10

void jacobi_solver(const float A[N][N], const float b[N], float x[N])
{
  float next[N];

  for (int t = 0; t < SWEEPS; t++) {
    for (int i = 0; i < N; i++) {
      float sum = b[i];
      for (int j = 0; j < N; j++)
        if (j != i)
          sum -= A[i][j] * x[j];
      next[i] = sum / A[i][i];
    }
    for (int i = 0; i < N; i++)
      x[i] = next[i];
  }
}
