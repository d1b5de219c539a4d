// Both Sobel gradients by tables of weights, the larger magnitude kept.
#define H 6
#define W 7
static const signed char across[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
static int magnitude(int x, int y) {
  int u = x < 0 ? -x : x, v = y < 0 ? -y : y;
  return u > v ? u : v;
}
void sobel(const unsigned char in[H][W], short out[H][W]) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      int gx = 0, gy = 0;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          gx += across[i][j] * in[y + i - 1][x + j - 1];
          gy += across[j][i] * in[y + i - 1][x + j - 1];
        }
      out[y][x] = magnitude(gx, gy);
    }
}
