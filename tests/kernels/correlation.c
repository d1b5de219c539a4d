// Means, deviations and products of them, with integer division by a constant.
#define M 4
#define N 7
void correlation(short data[M][N], long long products[N][N], int mean[N]) {
  for (int j = 0; j < N; j++) {
    mean[j] = 0;
    for (int i = 0; i < M; i++)
      mean[j] += data[i][j];
    mean[j] /= M;
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      data[i][j] -= mean[j];
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) {
      long long sum = 0;
      for (int k = 0; k < M; k++)
        sum += data[k][i] * data[k][j];
      products[i][j] = products[j][i] = sum;
    }
}
