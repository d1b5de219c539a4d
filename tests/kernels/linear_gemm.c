// c = a * b over flat matrices, indices named before they are used.
#define N 6
void linear_gemm(const short a[N * N], const short b[N * N], int c[N * N]) {
  int i, j, k;
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) {
      int to = i * N + j, sum = 0;
      for (k = 0; k < N; k++) {
        int left = i * N + k;
        int right = k * N + j;
        sum += a[left] * b[right];
      }
      c[to] = sum;
    }
}
