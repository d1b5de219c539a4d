/* sin on the bits of a double: what is said in _sine.c. */
#include "_sine.c"

static uint64_t rtlgen_sin(uint64_t x)
{
  return (x << 1) >= 0xffe0000000000000  ? 0x7ff8000000000000
         : (x << 1) < 0x7c80000000000000 ? x
                                         : rtlgen_sine(x, 0) ^ (x & 0x8000000000000000);
}
