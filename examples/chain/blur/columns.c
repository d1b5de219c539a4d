#include <stdint.h>
enum { H = 6, W = 8 };

/* Half of a blur: each pixel with the one above it. */
void columns(const uint8_t in[H][W], uint8_t out[H][W]) {
  uint8_t above[W];
  for (int x = 0; x < W; x++) above[x] = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      uint8_t pixel = in[y][x];
      out[y][x] = (above[x] + pixel) >> 1;
      above[x] = pixel;
    }
}
