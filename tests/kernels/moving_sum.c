// The sum of a window that slides: the newest comes in, the oldest goes out.
#define N 28
#define W 5
void moving_sum(const int x[N], long sum[N]) {
  long window = 0;
  for (int i = 0; i < N; i++) {
    window += x[i];
    if (i >= W)
      window -= x[i - W];
    sum[i] = window;
  }
}
