// Sums over neighbours inside of the image, and over pixels that a list names; checks in variables.
#include <stdbool.h>
#define H 9
#define W 11

int neighbours(const int image[H][W], const int list[24], int sums[H][W])
{
  int found = 0, missed = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      int s = 0;
      for (int d = 0; d < 4; d++) {
        int v = y + (d == 0) - (d == 1), u = x + (d == 2) - (d == 3);
        bool inside = v >= 0 && v < H && u >= 0 && u < W;
        s += inside ? image[v][u] : 1;
      }
      sums[y][x] = s;
    }
  for (int i = 0; i < 24; i++) {
    int row = list[i] & 15, hit = row < H;
    if (hit)
      found += image[row][list[i] & 7];
    else
      missed++;
  }
  return found * 32 + missed;
}
