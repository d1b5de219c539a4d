/* A word seen with and without a sign. */
#include <stdint.h>
typedef union { uint32_t u; int32_t s; } word;
int32_t spread(const word w[8])
{
  int32_t most = INT32_MIN, sum = 0;
  for (int i = 0; i < 8; i++) {
    word v = w[i];
    v.u ^= 0x80000000u;
    if (v.s > most)
      most = v.s;
    sum += (int32_t)(v.u >> 16);
  }
  return most ^ sum;
}
