/* cos on the bits of a double: what is said in _sine.c. */
#include "_sine.c"

static uint64_t rtlgen_cos(uint64_t x)
{
  return (x << 1) >= 0xffe0000000000000  ? 0x7ff8000000000000
         : (x << 1) < 0x7c80000000000000 ? 0x3ff0000000000000
                                         : rtlgen_sine(x, 1);
}
