/* Compares a function of doubles of the library with the long double one of <math.h>, which has 11 bits
 * more, on so many operands of ten kinds in turn; the arguments are how many, and the seed. What is
 * off by most units in the last place so far is printed, for somebody with more digits; and whatever is NaN,
 * infinite or 0 where the other is not. A finite value beyond the largest double is as good as an
 * infinity. No operand is 2^63: powl of glibc takes it for an odd number, where x is -inf.
 *
 * Compiled with -D TEXT='"pow.c"' -D NAME=rtlgen_pow -D REFERENCE=powl, and -D PAIRS for pow.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include TEXT

static const uint64_t special[] = {
    0,
    1,
    0x000fffffffffffff,
    0x0010000000000000,
    0x3fe0000000000000,
    0x3fefffffffffffff,
    0x3ff0000000000000,
    0x3ff0000000000001,
    0x4000000000000000,
    0x4008000000000000,
    0x4014000000000000,
    0x432fffffffffffff,
    0x433fffffffffffff,
    0x4340000000000000,
    0x4340000000000001,
    0x7fefffffffffffff,
    0x7ff0000000000000,
    0x7ff8000000000000,
};
enum { SPECIAL = sizeof special / sizeof *special, KINDS = 10 };

static uint64_t bits_of(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t random_bits(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static double between(uint64_t bits, double low, double high) { return low + (bits >> 11) * 0x1p-53 * (high - low); }

int main(int count, char **arguments)
{
  unsigned long numbers = strtoul(arguments[1], NULL, 0), finite = 0;
  uint64_t state = strtoull(arguments[2], NULL, 0);
  long double most = 0;
  for (unsigned long i = 0; i < numbers; i++) {
    uint64_t x = random_bits(&state), y = random_bits(&state);
    switch (i % KINDS) {
    case 0: /* any */
      break;
    case 1: /* x near 1, the result anything */
      x = bits_of(1 + ldexp(between(x, -1, 1), -(int)(x % 52)));
      y = bits_of(between(y, -1080, 1080) / log2(double_of(x)));
      break;
    case 2: /* powers of whole numbers */
      x = bits_of((double)(x & 0xffff));
      y = bits_of((double)(int)(y & 31) - 8);
      break;
    case 3: /* any positive x, the result anything */
      x = x & 0x7fffffffffffffff;
      y = bits_of(between(y, -1080, 1080) / log2(double_of(x)));
      break;
    case 4: /* neither is far from 1 */
      x = bits_of(between(x, 0.5, 2));
      y = bits_of(between(y, -4, 4));
      break;
    case 5: /* a large y: x takes part with all bits */
      x = bits_of(between(x, 0.6, 1.7));
      y = bits_of(between(y, 900, 1080) / log2(double_of(x)));
      break;
    case 6: /* subnormal x, and short ones */
      x = x & 1 ? x & 0xfffffffffffff : bits_of(ldexp((double)(x >> 8 & 255), (int)(x >> 16 & 63) - 32));
      y = bits_of(((int)(y & 511) - 256) / 8.0);
      break;
    case 7: /* of any size that is neither huge nor next to nothing */
      x = bits_of(ldexp(between(x, -1, 1), (int)(x & 63) - 40));
      y = bits_of(ldexp(between(y, -1, 1), (int)(y & 63) - 40));
      break;
    case 8: /* beside a multiple of an eighth turn */
      x = bits_of((double)(0.785398163397448309616L * (x >> (x & 31) >> 32))) + (y & 3);
      break;
    default:
      x = special[(x & 0xff) % SPECIAL] | x & 0x8000000000000000;
      y = special[(y & 0xff) % SPECIAL] | y & 0x8000000000000000;
    }
#ifdef PAIRS
    uint64_t result = NAME(x, y);
    long double value = REFERENCE(double_of(x), double_of(y));
#else
    uint64_t result = NAME(x);
    long double value = REFERENCE(double_of(x));
#endif
    double here = double_of(result);
    if (isnan(value)) {
      if (result != 0x7ff8000000000000)
        printf("wrong %016lx %016lx %016lx\n", x, y, result);
    } else if (isinf(value) || isinf(here) || value == 0) {
      if (bits_of((double)value) != result)
        printf("wrong %016lx %016lx %016lx\n", x, y, result);
    } else {
      int exponent;
      frexpl(value, &exponent);
      long double off = fabsl(here - value) / ldexpl(1, exponent - 53 < -1074 ? -1074 : exponent - 53);
      finite++;
      if (off > most) {
        printf("off %016lx %016lx %016lx\n", x, y, result);
        most = off;
      }
    }
  }
  printf("finite %lu\n", finite);
  return 0;
}
