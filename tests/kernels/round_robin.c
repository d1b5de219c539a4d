// Samples dealt to lanes in turn, each lane summed with its own weight; frames alternate in sign.
#include <stdint.h>
#define SAMPLES 90
#define LANES 5

static const int8_t weight[LANES] = {3, -1, 4, 1, -5};

int round_robin(const int16_t x[SAMPLES], int32_t lane[LANES], int32_t y[SAMPLES])
{
  int slot = 0, negative = 0;
  for (int i = 0; i < SAMPLES; i++) {
    int32_t v = negative ? -x[i] : x[i];
    lane[slot] += v * weight[slot];
    y[i] = lane[slot] ^ slot;
    if (++slot == LANES) {
      slot = 0;
      negative = !negative;
    }
  }
  return 10 * slot + negative;
}
