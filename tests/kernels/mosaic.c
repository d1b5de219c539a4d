// Which colour a pixel has follows from parities; the other two come from its neighbours.
#include <stdint.h>
#define N 6
#define CLAMP(x, lo, hi) ((x) < (lo) ? (lo) : (x) > (hi) ? (hi) : (x))
void mosaic(const uint8_t raw[N][N], uint8_t rgb[N][N][3]) {
  for (int y = 0; y < N; y++)
    for (int x = 0; x < N; x++) {
      int left = CLAMP(x - 1, 0, N - 1), right = CLAMP(x + 1, 0, N - 1);
      int up = CLAMP(y - 1, 0, N - 1), down = CLAMP(y + 1, 0, N - 1);
      int colour = (y & 1) ? ((x & 1) ? 2 : 1) : ((x & 1) ? 1 : 0);
      rgb[y][x][colour] = raw[y][x];
      rgb[y][x][(colour + 1) % 3] = (raw[y][left] + raw[y][right]) >> 1;
      rgb[y][x][(colour + 2) % 3] = (raw[up][x] + raw[down][x]) >> 1;
    }
}
