/* One of several filters, from a table of tables. */
static const short soft[] = {1, 2, 1}, sharp[] = {-1, 6, -1}, flat[] = {1, 1, 1};
static const short *const taps[] = {soft, sharp, flat};
void filter(const short x[34], const unsigned char mode[4], int y[32])
{
  for (int b = 0; b < 4; b++) {
    const short *w = taps[mode[b] % (sizeof taps / sizeof *taps)];
    for (int i = 0; i < 8; i++)
      y[8 * b + i] = w[0] * x[8 * b + i] + w[1] * x[8 * b + i + 1] + w[2] * x[8 * b + i + 2];
  }
}
