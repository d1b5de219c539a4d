/* The bytes that are left over, by falling through. */
#include <stdint.h>
uint32_t last_word(const uint8_t tail[4], int left)
{
  uint32_t k = 0;
  switch (left & 3) {
  case 3:
    k ^= tail[2] << 16;
  case 2:
    k ^= tail[1] << 8;
  case 1:
    k ^= tail[0];
    k *= 0xcc9e2d51;
    k = k << 15 | k >> 17;
  }
  return k;
}
