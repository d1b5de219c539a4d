// Grey values of pixels whose colours lie side by side.
#include <stdint.h>
#define N 24
void luminance(const uint8_t rgb[3 * N], uint8_t grey[N]) {
  for (int i = 0; i < N; i++)
    grey[i] = (uint8_t)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}
