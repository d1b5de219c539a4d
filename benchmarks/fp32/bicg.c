/* s = A^T * r and q = A * p, in single precision. */

void bicg(const float A[410][390], const float p[390], const float r[410], float s[390], float q[410])
{
  for (int j = 0; j < 390; j++)
    s[j] = 0.0f;
  for (int i = 0; i < 410; i++) {
    q[i] = 0.0f;
    for (int j = 0; j < 390; j++) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
}
