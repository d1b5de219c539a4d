// |dx| + |dy| of an image, saturated to a byte.
#define H 7
#define W 8
#define ABS(v) ((v) < 0 ? -(v) : (v))
void gradient(const unsigned char in[H][W], unsigned char out[H][W]) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      int dx = in[y][x + 1] - in[y][x - 1];
      int dy = in[y + 1][x] - in[y - 1][x];
      int sum = ABS(dx) + ABS(dy);
      if (sum > 255) sum = 255;
      out[y][x] = sum;
    }
}
