#define N 7
void pluto_example(unsigned char a[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      a[i][j] = a[j][i] + a[i][j - 1];
}
