/* Compares powf of the library with pow of <math.h>, as judge.c does, on so many pairs of operands of
 * seven kinds in turn; the arguments are how many, and the seed. What needs more digits than a double
 * has, midpoints among it, is printed once.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include TEXT

static const uint32_t special[] = {
    0,          1,          0x007fffff, 0x00800000, 0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x40000000,
    0x40400000, 0x40a00000, 0x4affffff, 0x4b7fffff, 0x4b800000, 0x4b800001, 0x4f000000, 0x7f7fffff, 0x7f800000,
    0x7fc00000,
};
enum { SPECIAL = sizeof special / sizeof *special, KINDS = 7 };

static uint32_t bits_of(double value)
{
  float rounded = (float)value;
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits)
{
  float value;
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

int main(int count, char **arguments)
{
  unsigned long pairs = strtoul(arguments[1], NULL, 0);
  uint64_t state = strtoull(arguments[2], NULL, 0);
  for (unsigned long i = 0; i < pairs; i++) {
    uint64_t drawn = random_bits(&state);
    uint32_t x = drawn, y = drawn >> 32;
    switch (i % KINDS) {
    case 0: /* any */
      break;
    case 1: /* x near 1, y not small */
      x = bits_of(1 + ((int)(x & 0xffffff) - 0x800000) * 0x1p-24);
      y = bits_of((int)y * 0x1p-8);
      break;
    case 2: /* powers of whole numbers */
      x = bits_of(x & 0xffff);
      y = bits_of((int)(y & 15) - 4);
      break;
    case 3: /* powers of short numbers, subnormal ones among them */
      x = bits_of(ldexp(x & 63, (int)(x >> 8 & 63) - 32));
      y = bits_of(((int)(y & 511) - 256) / 8.0);
      break;
    case 4: /* neither is far from 1 */
      x = x & 0x3ffffff | 0x3e000000;
      y = y & 0x83ffffff | 0x3e000000;
      break;
    case 5: /* x from 1/2 to 2, y from 32 to 512 */
      x = x & 0xffffff | 0x3f000000;
      y = y & 0x81ffffff | 0x42000000;
      break;
    default:
      x = special[(x & 0xff) % SPECIAL] | x & 0x80000000;
      y = special[(y & 0xff) % SPECIAL] | y & 0x80000000;
    }
    uint32_t result = rtlgen_powf(x, y);
    double value = pow(float_of(x), float_of(y));
    if (isnan(value)) {
      if (result != 0x7fc00000)
        printf("wrong %08x %08x %08x\n", x, y, result);
    } else if (bits_of(value * (1 - 0x1p-42)) != bits_of(value * (1 + 0x1p-42)))
      printf("near %08x %08x %08x\n", x, y, result);
    else if (result != bits_of(value))
      printf("wrong %08x %08x %08x\n", x, y, result);
  }
  printf("compared %lu\n", pairs);
  return 0;
}
