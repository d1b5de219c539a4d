/* One of two filters' states is handed to a function */
static int step(int state[4], int x, const int taps[4])
{
  int sum = 0;
  for (int k = 3; k > 0; k--) {
    state[k] = state[k - 1];
    sum += state[k] * taps[k];
  }
  state[0] = x;
  return sum + x * taps[0];
}
void filter(const int x[32], const int low[4], const int high[4], int y[32])
{
  int left[4] = {0}, right[4] = {0};
  for (int i = 0; i < 32; i++)
    y[i] = step(i % 2 ? left : right, x[i], x[i] > 100 ? high : low);
}
