// A trapezoid cut out of a triangle: a loop with two bounds.
#define N 10
void trapezoid(const int a[N][N], int b[N]) {
  for (int i = 0; i < N; i++) {
    b[i] = 0;
    for (int j = 0; j <= i && j < 6; j++)
      b[i] += a[i][j];
  }
}
