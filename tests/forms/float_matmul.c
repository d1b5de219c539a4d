/* A product of matrices. */
void matmul(const float a[6][6], const float b[6][6], float c[6][6])
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      float sum = 0.0f;
      for (int k = 0; k < 6; k++)
        sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}
