// Where a pattern differs least from a signal.
#define N 20
#define M 5
static int distance(const short *x, const short *y) {
  int sum = 0;
  for (int k = 0; k < M; k++) {
    int d = x[k] - y[k];
    sum += d < 0 ? -d : d;
  }
  return sum;
}
int best_match(const short signal[N], const short pattern[M]) {
  int best = 0x7fffffff, place = 0;
  for (int i = 0; i <= N - M; i++) {
    int here = distance(signal + i, pattern);
    if (here < best) {
      best = here;
      place = i;
    }
  }
  return place;
}
