// Where something is stored, and how far a loop runs, is chosen by the iterators.
#define N 16
#define CLIP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
void folded_store(const int in[N], int spread[N + 4], int edge[N], int halves[N], int sums[N]) {
  for (int i = 0; i < N; i++)
    spread[i < 10 ? i : i + 4] = in[i] * 3 + i;
  for (int i = 0; i < N + 8; i++)
    edge[CLIP(i - 4, 0, N - 1)] += in[i & 15] + i;
  for (int i = 0; i < N; i++) {
    int k;
    if (i & 1)
      k = N / 2 + i / 2;
    else
      k = i / 2;
    halves[k] = in[i] - in[N - 1 - i];
  }
  for (int i = 0; i < N; i++) {
    int taps = i < 5 ? 3 : 6;
    sums[i] = 0;
    for (int j = 0; j < taps; j++)
      sums[i] += in[(i + j) & 15] * (j + 1);
  }
}
