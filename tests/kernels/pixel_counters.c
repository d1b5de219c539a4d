// A stream of pixels whose row, column and frame are counted beside the loop.
#include <stdint.h>
#define W 6
#define H 4
void pixel_counters(const uint8_t in[3 * H * W], short frames[3][H][W], int rows[H], int columns[W]) {
  int x = 0, y = 0, t = 0;
  for (int p = 0; p < 3 * H * W; p++) {
    frames[t][y][x] = in[p] * (x + 1) - 7 * y;
    columns[x] += in[p];
    if (y > 0)
      rows[y] += frames[t][y - 1][x] ^ in[p];
    if (++x == W) {
      x = 0;
      if (++y == H) {
        y = 0;
        t++;
      }
    }
  }
}
