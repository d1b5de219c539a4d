/* A filter of sixteen taps in half precision. */

#define SAMPLES 256
#define TAPS 16

void half_fir(const _Float16 x[SAMPLES], const _Float16 h[TAPS], _Float16 y[SAMPLES - TAPS + 1])
{
  for (int i = 0; i <= SAMPLES - TAPS; i++) {
    _Float16 sum = 0;
    for (int k = 0; k < TAPS; k++)
      sum += x[i + k] * h[k];
    y[i] = sum;
  }
}
