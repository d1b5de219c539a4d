/* D = beta * D + alpha * A * B * C, in single precision. */

void k2mm(float alpha, float beta, const float A[180][210], const float B[210][190], const float C[190][220],
          float D[180][220])
{
  float tmp[180][190];

  for (int i = 0; i < 180; i++)
    for (int j = 0; j < 190; j++) {
      tmp[i][j] = 0.0f;
      for (int k = 0; k < 210; k++)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < 180; i++)
    for (int j = 0; j < 220; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < 190; k++)
        D[i][j] += tmp[i][k] * C[k][j];
    }
}
