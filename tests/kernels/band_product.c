// A matrix with few diagonals times a vector; the bounds follow the band.
#define N 22
#define W 2
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static int lesser(int a, int b) { return a < b ? a : b; }
void band_product(const short a[N][N], const short x[N], int y[N]) {
  for (int i = 0; i < N; i++) {
    y[i] = i;
    for (int j = MAX(0, i - W); j <= lesser(N - 1, i + W); j++)
      y[i] += a[i][j] * x[j];
  }
}
