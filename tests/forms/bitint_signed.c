/* A phase of ten bits that wraps by itself. */
typedef _BitInt(10) phase_t;
int sweep(const signed char step[20], int tops[20])
{
  phase_t phase = 0;
  int n = 0;
  for (int i = 0; i < 20; i++) {
    phase += step[i] * (phase_t)9;
    tops[i] = phase > 255;
    n += phase < -200;
  }
  return n;
}
