// Population count, parity and bit reversal by masks, all constants spelled as in a library.
#include <stdint.h>
#define WORDS 24

static inline int count_ones(uint64_t x)
{
  const uint64_t m1 = 0x5555555555555555ULL, m2 = 0x3333333333333333ULL, m4 = 0x0f0f0f0f0f0f0f0fULL;
  x -= (x >> 1) & m1;
  x = (x & m2) + ((x >> 2) & m2);
  x = (x + (x >> 4)) & m4;
  return (int)((x * 0x0101010101010101ULL) >> 56);
}

static inline unsigned parity(unsigned v)
{
  v ^= v >> 16;
  v ^= v >> 8;
  v ^= v >> 4;
  return (0x6996u >> (v & 0xf)) & 1;
}

static unsigned reversed(unsigned v)
{
  v = ((v >> 1) & 0x55555555) | ((v & 0x55555555) << 1);
  v = ((v >> 2) & 0x33333333) | ((v & 0x33333333) << 2);
  v = ((v >> 4) & 0x0F0F0F0F) | ((v & 0x0F0F0F0F) << 4);
  v = ((v >> 8) & 0x00FF00FF) | ((v & 0x00FF00FF) << 8);
  return (v >> 16) | (v << 16);
}

void bit_counts(const uint64_t a[WORDS], const unsigned b[WORDS], unsigned y[WORDS])
{
  for (int i = 0; i < WORDS; i++)
    y[i] = reversed(b[i]) ^ (count_ones(a[i]) << 1 | parity(b[i]));
}
