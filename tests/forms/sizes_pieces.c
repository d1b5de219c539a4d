/* Bytes put into blocks, and each full one mixed, however many bytes there are. */
#include <assert.h>
#include <stdint.h>
void absorb(const uint8_t in[40], unsigned length, uint8_t block[16], uint32_t state[4])
{
  unsigned at = 0;
  assert(length <= 40);
  while (length > 0) {
    unsigned take = length < 16 ? length : 16;
    for (unsigned i = 0; i < take; i++) {
      assert(at + i < 40);
      block[i] ^= in[at + i];
    }
    for (int k = 0; k < 4; k++)
      state[k] = state[k] * 5 + block[4 * k] + take;
    at += take;
    length -= take;
  }
}
