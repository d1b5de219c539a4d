// A sum over blocks, the last of which is cut off.
#define N 23
#define B 5
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void blocks(const int a[N], int b[N], int sum[(N + B - 1) / B]) {
  for (int ii = 0; ii < N; ii += B)
    for (int i = ii; i < MIN(N, ii + B); i++)
      b[i] = a[i] * (ii + 1) - a[N - 1 - i];
  for (int k = 0; k < (N + B - 1) / B; k++) {
    sum[k] = 0;
    for (int i = B * k; i < MIN(N, B * k + B); i++)
      sum[k] += b[i];
  }
}
