// Rows of a matrix through pointers that are set once.
#define N 6
void row_pointers(int a[N][N], const int b[N * N]) {
  for (int i = 0; i < N; i++) {
    int *row = a[i];
    const int *source = b + N * (N - 1 - i);
    for (int j = 0; j < N; j++)
      row[j] += source[j] * *source;
  }
}
