/* Every value of a byte, the way that ends. */
#include <stdint.h>
void inverse(uint8_t table[256])
{
  uint8_t i = 0;
  do
    table[i] = i * 167 + 13;
  while (++i != 0);
}
