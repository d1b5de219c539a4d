/* A ring buffer: bytes come in, a word goes out with every fourth. */
#include <stdint.h>
void pack(const uint8_t in[24], uint32_t out[6])
{
  uint8_t ring[8];
  unsigned head = 0, tail = 0;
  int i = 0, o = 0;
  while (i < 24) {
    ring[head++ & 7] = in[i++];
    if ((head & 3) == 0) {
      uint32_t word = 0;
      for (int n = 0; n < 4; n++)
        word = word << 8 | ring[tail++ & 7];
      out[o++] = word;
    }
  }
}
