// Matrix product over (min, +).
#define N 6
static int least(int a, int b) {
  if (a < b) return a;
  return b;
}
void min_plus(const int a[N][N], const int b[N][N], int c[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      c[i][j] = a[i][0] + b[0][j];
      for (int k = 1; k < N; k++)
        c[i][j] = least(c[i][j], a[i][k] + b[k][j]);
    }
}
