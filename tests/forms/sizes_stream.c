// -D left=100
/* The sums of a text, reduced after every piece of it. */
#include <stdint.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
uint32_t adler(const uint8_t *p, unsigned left)
{
  uint32_t a = 1, b = 0;
  while (left) {
    unsigned n = MIN(left, 32);
    for (unsigned i = 0; i < n; i++) {
      a += p[i];
      b += a;
    }
    a %= 65521;
    b %= 65521;
    left -= n;
    p += n;
  }
  return b << 16 | a;
}
