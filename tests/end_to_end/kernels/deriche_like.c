#define W 4
#define H 5
void deriche_like(int in[W][H], int out[W][H], int y1[W][H], int y2[W][H]) {
  int ym1, ym2, xm1;
  for (int i = 0; i < W; i++) {
    ym1 = 0;
    ym2 = 0;
    xm1 = 0;
    for (int j = 0; j < H; j++) {
      y1[i][j] = 3 * in[i][j] + 5 * xm1 + 2 * ym1 - ym2;
      xm1 = in[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int i = 0; i < W; i++)
    for (int j = H - 1; j >= 0; j--)
      y2[i][j] = y1[i][j] + (j < H - 1 ? 1 : 0);
  for (int i = 0; i < W; i++)
    for (int j = 0; j < H; j++)
      out[i][j] = y1[i][j] + y2[i][j];
}
