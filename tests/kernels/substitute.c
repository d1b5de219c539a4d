// Byte substitution by nibbles: two lookups in a table of constants an iteration.
#include <stdint.h>
#define N 32
static const uint8_t sbox[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};
void substitute(const uint8_t a[N], uint8_t b[N]) {
  for (int i = 0; i < N; i++)
    b[i] = sbox[a[i] >> 4] << 4 | sbox[a[i] & 15];
}
