/* A triangular system. */
void solve(const double l[8][8], const double b[8], double x[8])
{
  for (int i = 0; i < 8; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= l[i][j] * x[j];
    x[i] /= l[i][i];
  }
}
