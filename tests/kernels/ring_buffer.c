// A delay line in a ring, sums of blocks, pictures in turns: written remainders and quotients.
#define N 24
#define W 8
void ring_buffer(const int x[N], int y[N], int sums[N / 4], int pictures[2][W][W],
                 unsigned char bits[3]) {
  int ring[5] = {0};
  for (int n = 0; n < N; n++) {
    y[n] = x[n] + ring[n % 5];
    ring[n % 5] = x[n] - (y[n] >> 1);
    sums[n / 4] += y[n];
    bits[n >> 3] ^= (x[n] & 1) << (n & 7);
  }
  for (int t = 0; t < 5; t++)
    for (int i = 1; i < W - 1; i++)
      for (int j = 1; j < W - 1; j++)
        pictures[(t + 1) % 2][i][j] =
            (pictures[t % 2][i - 1][j] + pictures[t % 2][i][j + 1] + pictures[t % 2][i][j]) / 3;
}
