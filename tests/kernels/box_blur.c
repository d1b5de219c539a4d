// Mean of 3 x 3 neighbours, the border kept.
#define H 7
#define W 8
void box_blur(const unsigned char in[H][W], unsigned char out[H][W]) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      if (y == 0 || y == H - 1 || x == 0 || x == W - 1)
        out[y][x] = in[y][x];
      else {
        int sum = 0;
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++)
            sum += in[y + dy][x + dx];
        out[y][x] = sum / 9;
      }
    }
}
