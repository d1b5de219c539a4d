// Windows over an image with unsigned sizes and signed offsets, cleared and copied in blocks.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define H 6
#define W 9
void copies(const uint8_t (*restrict in)[W], uint8_t (*restrict out)[W], uint32_t sums[H],
            int16_t saved[2][W]) {
  uint16_t line[W];
  memset(out, 0, sizeof(uint8_t) * H * W);
  memset(sums, 0xff, H * sizeof(*sums));
  for (size_t y = 1; y < H - 1; ++y) {
    for (size_t x = 1; x < W - 1; ++x) {
      uint16_t s = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          s += in[y + dy][x + dx];
      out[y][x] = s / 3;
      line[x] = s;
    }
    for (size_t x = 1; x < W - 1; x++)
      sums[y] += line[x] % 7;
    if (sums[y] & 1)
      memcpy(saved[1], saved[0], sizeof saved[0]);
    saved[0][y] += sums[y];
  }
}
