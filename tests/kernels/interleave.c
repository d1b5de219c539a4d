// Two signals into one, counted beside the loop, and apart again from the end.
#define N 12
void interleave(const int left[N], const int right[N], int both[2 * N], int back[2 * N]) {
  int k = 0;
  for (int i = 0; i < N; i++) {
    both[k++] = left[i];
    both[k++] = right[i];
  }
  for (int i = 0, last = 2 * N - 1; i < 2 * N; i++, last--)
    back[i] = both[last];
}
