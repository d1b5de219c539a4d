// Horner's rule for each argument; the degree is a parameter of the helper.
#define N 12
#define DEGREE 4
static int horner(const int c[DEGREE + 1], int x) {
  int y = c[DEGREE];
  for (int k = DEGREE - 1; k >= 0; k--)
    y = y * x + c[k];
  return y;
}
void polynomial(const int c[DEGREE + 1], const int x[N], int y[N]) {
  for (int i = 0; i < N; i++)
    y[i] = horner(c, x[i]);
}
