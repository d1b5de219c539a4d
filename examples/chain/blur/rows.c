#include <stdint.h>
enum { H = 6, W = 8 };

/* Half of a blur: each pixel with the one before it. */
void rows(const uint8_t in[H][W], uint8_t out[H][W]) {
  uint8_t before = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      uint8_t pixel = in[y][x];
      out[y][x] = (before + pixel) >> 1;
      before = pixel;
    }
}
