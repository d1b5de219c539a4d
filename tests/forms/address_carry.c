/* Long addition, the carry by address. */
#include <stdint.h>
static uint32_t add(uint32_t a, uint32_t b, unsigned *carry)
{
  uint64_t sum = (uint64_t)a + b + *carry;
  *carry = sum >> 32;
  return (uint32_t)sum;
}
unsigned add_long(const uint32_t a[8], const uint32_t b[8], uint32_t out[8])
{
  unsigned carry = 0;
  for (int i = 0; i < 8; i++)
    out[i] = add(a[i], b[i], &carry);
  return carry;
}
