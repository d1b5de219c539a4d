/* The first byte with odd parity. */
#include <stdint.h>
int first_odd(const uint8_t x[16])
{
  int found = -1;
  for (int i = 0; i < 16; i++) {
    uint8_t v = x[i];
    v ^= v >> 4;
    v ^= v >> 2;
    v ^= v >> 1;
    if (v & 1) {
      found = i;
      break;
    }
  }
  return found;
}
