/* log10 on the bits of a double, within 0.51 units in the last place: as in _ln.c. Of a power of 10 it is exact. */
#include "_ln.c"

static uint64_t rtlgen_log10(uint64_t x) { return rtlgen_ln_times(x, 0xde5bd8a937287195, -2, 0); }
