// Three zones of a value by a nest of conditions.
#define N 20
void threshold_zones(const int x[N], int low[N], int high[N]) {
  for (int i = 0; i < N; i++) {
    low[i] = -i;
    high[i] = i;
    if (x[i] > 0) {
      if (x[i] > 1000000000) {
        high[i] = x[i] >> 4;
        low[i] = i;
      } else
        low[i] = x[i];
    }
  }
}
