/* The exponents of numbers, by a function that returns early and is large where it is called. */
#include <stdlib.h>
static int highest(unsigned bits)
{
  int place;
  if (bits == 0)
    return -1;
  place = 0;
  if (bits & 0xFFFF0000) { bits &= 0xFFFF0000; place += 16; }
  if (bits & 0xFF00FF00) { bits &= 0xFF00FF00; place += 8; }
  if (bits & 0xF0F0F0F0) { bits &= 0xF0F0F0F0; place += 4; }
  if (bits & 0xCCCCCCCC) { bits &= 0xCCCCCCCC; place += 2; }
  if (bits & 0xAAAAAAAA) { bits &= 0xAAAAAAAA; place += 1; }
  return place;
}

void convert(const short x[8], short exponent[8], short mantissa[8])
{
  for (int i = 0; i < 8; i++) {
    short size = (short)abs(x[i]);
    short e = (short)(highest(size >> 1) + 1);
    exponent[i] = e;
    mantissa[i] = (size << 7 >> e) & 127;
  }
}
