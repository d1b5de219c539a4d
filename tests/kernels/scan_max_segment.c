// Greatest sum of a segment, empty ones not allowed.
#define N 20
int scan_max_segment(const short a[N]) {
  int here = a[0], best = a[0];
  for (int i = 1; i < N; i++) {
    here = here > 0 ? here + a[i] : a[i];
    if (here > best)
      best = here;
  }
  return best;
}
