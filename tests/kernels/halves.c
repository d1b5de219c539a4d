// A transform by halves, back by doubles, and a network that compares at powers of two.
#define N 8
void halves(int x[N], int sums[N], int sorted[N]) {
  int held[N];
  for (int n = N; n > 1; n >>= 1) {
    for (int i = 0; i < n / 2; i++) {
      held[i] = (x[2 * i] + x[2 * i + 1]) / 2;
      held[n / 2 + i] = x[2 * i] - x[2 * i + 1];
    }
    for (int i = 0; i < n; i++)
      x[i] = held[i];
  }
  for (unsigned d = 1; d < N; d *= 2)
    for (int i = N - 1; i >= (int)d; i--)
      sums[i] += sums[i - d];
  for (int j = N / 2; j; j /= 2)
    for (int i = 0; i < N; i++)
      if ((i ^ j) > i) {
        int low = sorted[i] < sorted[i ^ j] ? sorted[i] : sorted[i ^ j];
        sorted[i ^ j] ^= sorted[i] ^ low;
        sorted[i] = low;
      }
}
