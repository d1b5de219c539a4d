/* x1 += A * y1 and x2 += A^T * y2, in single precision. */

void mvt(const float A[400][400], const float y1[400], const float y2[400], float x1[400], float x2[400])
{
  for (int i = 0; i < 400; i++)
    for (int j = 0; j < 400; j++)
      x1[i] += A[i][j] * y1[j];
  for (int i = 0; i < 400; i++)
    for (int j = 0; j < 400; j++)
      x2[i] += A[j][i] * y2[j];
}
