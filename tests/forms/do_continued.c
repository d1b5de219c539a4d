/* A `do` that is continued, and asks by a step behind an `or` */
int last_peak(const short x[32], int n)
{
  int i = 0, peaks = 0;
#pragma rtlgen bound 40
  do {
    if (x[i & 31] < 64)
      continue;
    if (x[(i + 1) & 31] > x[i & 31])
      continue;
    peaks++;
  } while ((x[i & 31] > 128 && i++ < 32) || i++ < (n & 15));
  return peaks * 64 + i;
}
