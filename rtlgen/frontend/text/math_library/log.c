/* log on the bits of a double, within 0.51 units in the last place: as in _ln.c. */
#include "_ln.c"

static uint64_t rtlgen_log(uint64_t x) { return rtlgen_ln_times(x, 0x8000000000000000, 0, 0); }
