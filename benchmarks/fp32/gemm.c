/* C = beta * C + alpha * A * B, in single precision. */

void gemm(float alpha, float beta, const float A[200][240], const float B[240][220], float C[200][220])
{
  for (int i = 0; i < 200; i++) {
    for (int j = 0; j < 220; j++)
      C[i][j] *= beta;
    for (int k = 0; k < 240; k++)
      for (int j = 0; j < 220; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
}
