// A picture grows a border: which rule holds follows from the place alone.
#define N 8
void border(const int in[N][N], int out[N][N], int rim) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      if (!(i > 0 && j > 0 && i < N - 1 && j < N - 1))
        out[i][j] = rim + i - j;
      else if (i == j || i + j == N - 1)
        out[i][j] = in[i][j] * 2;
      else
        out[i][j] = in[i - 1][j] + in[i + 1][j] - in[i][j - 1];
    }
}
