// A ring that is written through a local temporary, and a raster that goes on over nested loops.
#define N 20
void run_ahead(const int a[N], int b[4][5], int c[3], int ring[7]) {
  int slot = 0;
  for (int i = 0; i < N; i++) {
    int next = slot + 1;
    ring[slot] += a[i] * (i + 3);
    slot = (next >= 7) ? 0 : next;
    ring[slot] ^= a[i];
  }
  int x = 4, y = -1;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 5; j++) {
      x++;
      if (x >= 5) {
        x = 0;
        y++;
      }
      b[y][x] = a[5 * i + j] - ring[x + y % 3];
    }
    if (i % 4 != 3)
      c[i % 4] += b[y][x] + x;
  }
}
