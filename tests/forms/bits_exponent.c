/* The exponents of doubles. */
#include <stdint.h>
#include <string.h>
void exponents(const double x[16], int e[16])
{
  for (int i = 0; i < 16; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    e[i] = (int)(bits >> 52 & 0x7ff) - 1023;
  }
}
