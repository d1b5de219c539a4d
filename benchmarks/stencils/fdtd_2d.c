#define T 20
#define NX 20
#define NY 30
void fdtd_2d(int ex[NX][NY], int ey[NX][NY], int hz[NX][NY], int fict[T]) {
  for (int t = 0; t < T; t++) {
    for (int j = 0; j < NY; j++)
      ey[0][j] = fict[t];
    for (int i = 1; i < NX; i++)
      for (int j = 0; j < NY; j++)
        ey[i][j] = ey[i][j] - (hz[i][j] - hz[i - 1][j]) / 2;
    for (int i = 0; i < NX; i++)
      for (int j = 1; j < NY; j++)
        ex[i][j] = ex[i][j] - (hz[i][j] - hz[i][j - 1]) / 2;
    for (int i = 0; i < NX - 1; i++)
      for (int j = 0; j < NY - 1; j++)
        hz[i][j] = hz[i][j] - (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]) * 7 / 10;
  }
}
