// Sums of absolute differences of a block at every displacement.
#define B 4
#define R 5
static int absolute(int x) {
  if (x < 0)
    return -x;
  return x;
}
void block_match(const unsigned char block[B][B], const unsigned char area[B + R][B + R],
                 unsigned short sad[R][R]) {
  for (int dy = 0; dy < R; dy++)
    for (int dx = 0; dx < R; dx++) {
      sad[dy][dx] = 0;
      for (int y = 0; y < B; y++)
        for (int x = 0; x < B; x++)
          sad[dy][dx] += absolute(block[y][x] - area[y + dy][x + dx]);
    }
}
