// Sums of products of looked-up values: the tables are wanted several times a cycle.
#define N 6
#define M 8
void weighted_tables(const unsigned char code[N][M], int gain[16], int y[N]) {
  for (int i = 0; i < N; i++) {
    int sum = 0;
    for (int j = 0; j < M; j++)
      sum += gain[code[i][j] & 15] * (j + 1) - gain[code[i][j] >> 4];
    y[i] = sum;
  }
  for (int k = 0; k < 16; k++)
    gain[k] ^= k;
}
