/* An unsigned byte that counts down past 0. */
#include <stdint.h>
void scale(uint8_t a[16])
{
  for (uint8_t b = 15; b < 16; --b)
    a[b] = a[b] * 3 + b;
}
