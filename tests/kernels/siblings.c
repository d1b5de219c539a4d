// Two loops inside of one, with statements before, between and after them.
#define N 6
#define M 5
void siblings(int a[N][M], int sum[N], int product[N]) {
  for (int i = 0; i < N; i++) {
    sum[i] = 0;
    for (int j = 0; j < M; j++)
      sum[i] += a[i][j];
    product[i] = 1;
    for (int j = 0; j < M; j++)
      product[i] *= a[i][j] | 1;
    a[i][0] = sum[i] - product[i];
  }
}
