/* A window of a size that is given. */
#define MAX_TAPS 9
void smooth(const short x[40], short y[40], int taps)
{
  if (taps < 1 || taps > MAX_TAPS)
    return;
  for (int i = MAX_TAPS - 1; i < 40; i++) {
    int sum = 0;
    for (int t = 0; t < taps; t++)
      sum += x[i - t];
    y[i] = sum / taps;
  }
}
