/* The signs of numbers, counted and taken away by their bits, through a pointer. */
#include <stdint.h>
int kernel(float x[16])
{
  uint32_t *bits = (uint32_t *)x;
  int negative = 0;
  for (int i = 0; i < 16; i++) {
    negative += bits[i] >> 31;
    bits[i] &= 0x7fffffffu;
  }
  return negative;
}
