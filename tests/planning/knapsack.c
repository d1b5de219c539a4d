/* The best choice of things of some weights, for all capacities in one row, in place. */
int knapsack(const unsigned char weight[90], const short value[90], int best[201])
{
  int most = 0, chosen = 0;
  for (int c = 0; c <= 200; c++) best[c] = 0;
  for (int i = 0; i < 90; i++) {
    int w = (weight[i] & 31) + 1, v = value[i], last = 0;
    for (int c = 200; c >= 32; c--) {
      int taken = best[c - w] + v;
      if (taken > best[c]) { best[c] = taken; last = c; }
    }
    chosen += last;
    most = best[200] > most ? best[200] : most;
  }
  return most ^ chosen;
}
