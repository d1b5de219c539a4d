/* A root by Newton's method, six steps. */
void roots(const double x[8], double root[8])
{
  for (int i = 0; i < 8; i++) {
    double y = x[i] > 1 ? x[i] : 1;
    for (int step = 0; step < 6; step++)
      y = 0.5 * (y + x[i] / y);
    root[i] = y;
  }
}
