/* y = alpha * A * x + beta * B * x, in single precision. */

void gesummv(float alpha, float beta, const float A[250][250], const float B[250][250], const float x[250],
             float y[250])
{
  for (int i = 0; i < 250; i++) {
    float a = 0.0f, b = 0.0f;
    for (int j = 0; j < 250; j++) {
      a += A[i][j] * x[j];
      b += B[i][j] * x[j];
    }
    y[i] = alpha * a + beta * b;
  }
}
