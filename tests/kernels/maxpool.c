// 2 x 2 maximum pooling, the maximum by a macro.
#define N 10
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void maxpool(const short x[N][N], short y[N / 2][N / 2]) {
  for (int i = 0; i < N / 2; i++)
    for (int j = 0; j < N / 2; j++)
      y[i][j] = MAX(MAX(x[2 * i][2 * j], x[2 * i][2 * j + 1]),
                    MAX(x[2 * i + 1][2 * j], x[2 * i + 1][2 * j + 1]));
}
