/* A byte says how many. */
#include <stdint.h>
uint16_t fletcher(const uint8_t data[255], uint8_t n)
{
  uint16_t a = 0, b = 0;
  for (int i = 0; i < n; i++) {
    a = (a + data[i]) % 255;
    b = (b + a) % 255;
  }
  return b << 8 | a;
}
