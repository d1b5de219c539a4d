/* log2 on the bits of a double, within 0.51 units in the last place: as in _ln.c. Of a power of 2 it is exact. */
#include "_ln.c"

static uint64_t rtlgen_log2(uint64_t x) { return rtlgen_ln_times(x, 0xb8aa3b295c17f0bc, 0, 0); }
