// a := a + a^T on both triangles.
#define N 7
void symmetrise(int a[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) {
      int both = a[i][j] + a[j][i];
      a[i][j] = both;
      a[j][i] = both;
    }
}
