// A Gaussian blur by two passes of 1 4 6 4 1, with shifts for products.
#define H 8
#define W 9
typedef unsigned char pixel;
static pixel narrowed(unsigned x) { return (pixel)(x >> 4); }
void gaussian(const pixel in[H][W], pixel out[H][W]) {
  pixel half[H][W];
  for (int y = 0; y < H; y++)
    for (int x = 2; x < W - 2; x++)
      half[y][x] = narrowed(in[y][x - 2] + (in[y][x - 1] << 2) + (in[y][x] << 2) +
                            (in[y][x] << 1) + (in[y][x + 1] << 2) + in[y][x + 2]);
  for (int y = 2; y < H - 2; y++)
    for (int x = 2; x < W - 2; x++)
      out[y][x] = narrowed(half[y - 2][x] + 4 * half[y - 1][x] + 6 * half[y][x] +
                           4 * half[y + 1][x] + half[y + 2][x]);
}
