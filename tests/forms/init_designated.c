/* Designated values, in a table and in a structure. */
struct limits { int low, high, step; };
int clip(const int x[10], int y[10])
{
  static const short weight[10] = {[2] = 3, [6] = 9, 4};
  struct limits l = {.high = 1000, .low = -1000};
  for (int i = 0; i < 10; i++) {
    int v = x[i] * weight[i];
    y[i] = v < l.low ? l.low : v > l.high ? l.high : v;
  }
  return l.step;
}
