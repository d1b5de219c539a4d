// Transposition of a matrix kept in one dimension; the row is an affine temporary.
#define N 8
void linear_row(const int a[N * N], int b[N * N]) {
  for (int i = 0; i < N; i++) {
    int row = i * N;
    for (int j = 0; j < N; j++) {
      int column = j * N;
      b[column + i] = a[row + j];
    }
  }
}
