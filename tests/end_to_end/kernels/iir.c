void iir(int x[16], int y[16], int a1, int a2) {
  for (int n = 2; n < 16; n++)
    y[n] = x[n] - ((a1 * y[n - 1] + a2 * y[n - 2]) >> 8);
}
