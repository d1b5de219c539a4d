// The greatest element and the place of its first occurrence.
#define N 32
int running_maximum(const int a[N], int place[1]) {
  int best = a[0];
  int at = 0;
  for (int i = 1; i < N; i++)
    if (a[i] > best) {
      best = a[i];
      at = i;
    }
  place[0] = at;
  return best;
}
