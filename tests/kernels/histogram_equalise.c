// A table that the kernel computes first, then looks up, then changes, then looks up again.
#define N 48
void histogram_equalise(const int x[N], short y[N], int z[N]) {
  short map[32];
  int total = 7;
  for (int k = 0; k < 32; k++) {
    total += (k * 37) % 11;
    map[k] = total * 5;
  }
  for (int i = 0; i < N; i++)
    y[i] = map[x[i] & 31] + i;
  for (int k = 1; k < 32; k++)
    map[k] += map[k - 1];
  for (int i = 0; i < N; i++)
    z[i] = map[(x[i] >> 5) & 31] - y[i];
}
