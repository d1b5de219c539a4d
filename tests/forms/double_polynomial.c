/* A polynomial by Horner's rule. */
static const double coefficient[5] = {0.5, -1.25, 0x1p-3, 3e-2, 1};
void values(const double x[16], double y[16])
{
  for (int i = 0; i < 16; i++) {
    double sum = 0;
    for (int k = 4; k >= 0; k--)
      sum = sum * x[i] + coefficient[k];
    y[i] = sum;
  }
}
