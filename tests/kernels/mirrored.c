// A filter that mirrors at the ends, and a window that is cut off there.
#define N 26
#define R 3

void mirrored(const int a[N], int b[N], int c[N])
{
  for (int i = 0; i < N; i++) {
    int s = 0;
    for (int d = -R; d <= R; d++) {
      int k = i + d;
      if (k < 0)
        k = -k;
      if (k >= N)
        k = 2 * N - 2 - k;
      s += a[k] * (R + 1 - (d < 0 ? -d : d));
    }
    b[i] = s;
    int low = i - R, high = i + R, most = a[i];
    if (low < 0)
      low = 0;
    if (high > N - 1)
      high = N - 1;
    for (int j = low; j <= high; j++)
      if (a[j] > most)
        most = a[j];
    c[i] = most - s / (high - low + 1);
  }
}
