/* Compares a function of the library with the double one of <math.h>, of which a relative error below
 * 2^-42 is asked, a thousand times what it has: what a value so far on both sides rounds to is right.
 * Where the two differ, the input and the result are printed, for somebody with more digits.
 *
 * Compiled with -D TEXT='"expf.c"' -D NAME=rtlgen_expf -D REFERENCE=exp; the arguments are the first
 * input, the end and the step, three for each range.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include TEXT

static uint32_t bits_of(double value)
{
  float rounded = (float)value;
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return bits;
}

int main(int count, char **arguments)
{
  unsigned long compared = 0;
  for (int i = 1; i + 2 < count; i += 3) {
    uint64_t end = strtoull(arguments[i + 1], NULL, 0), step = strtoull(arguments[i + 2], NULL, 0);
    for (uint64_t at = strtoull(arguments[i], NULL, 0); at < end; at += step) {
      uint32_t bits = at, result = NAME(bits);
      float x;
      memcpy(&x, &bits, sizeof x);
      double value = REFERENCE(x);
      compared++;
      if (isnan(value)) {
        if (result != 0x7fc00000)
          printf("wrong %08x %08x\n", bits, result);
      } else if (bits_of(value * (1 - 0x1p-42)) != bits_of(value * (1 + 0x1p-42)))
        printf("near %08x %08x\n", bits, result);
      else if (result != bits_of(value))
        printf("wrong %08x %08x\n", bits, result);
    }
  }
  printf("compared %lu\n", compared);
  return 0;
}
