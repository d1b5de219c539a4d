// Correlation of two signals at every lag.
#define N 12
void correlate(const short a[N], const short b[N], int r[N]) {
  for (int lag = 0; lag < N; lag++) {
    r[lag] = 0;
    for (int i = 0; i + lag < N; i++)
      r[lag] += a[i + lag] * b[i];
  }
}
