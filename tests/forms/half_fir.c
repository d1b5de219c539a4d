/* A filter in half precision. */
void fir(const _Float16 x[24], const _Float16 h[4], _Float16 y[21])
{
  for (int i = 0; i < 21; i++) {
    _Float16 sum = 0;
    for (int k = 0; k < 4; k++)
      sum += x[i + k] * h[k];
    y[i] = sum;
  }
}
