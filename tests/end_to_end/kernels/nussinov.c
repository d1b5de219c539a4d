#define N 6
void nussinov(int seq[N], int table[N][N]) {
  for (int i = N - 1; i >= 0; i--) {
    for (int j = i + 1; j < N; j++) {
      table[i][j] = table[i][j] > table[i][j - 1] ? table[i][j] : table[i][j - 1];
      table[i][j] = table[i][j] > table[i + 1][j] ? table[i][j] : table[i + 1][j];
      if (i < j - 1)
        table[i][j] = table[i][j] > table[i + 1][j - 1] + (seq[i] + seq[j] == 3)
                          ? table[i][j] : table[i + 1][j - 1] + (seq[i] + seq[j] == 3);
      for (int k = i + 1; k < j; k++)
        table[i][j] = table[i][j] > table[i][k] + table[k + 1][j]
                          ? table[i][j] : table[i][k] + table[k + 1][j];
    }
  }
}
