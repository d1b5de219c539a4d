/* Two statements of one ring write one array in every iteration. */
int g[2];
void one_write_port(unsigned a[4], unsigned b[1][1]) {
  for (int i2 = 1; i2 <= 1; i2 += 1) {
    for (int i3 = 3; i3 <= 4; i3 += 1) {
      for (int i4 = 0; i4 <= 1; i4 += 1)
        a[i2 + 2] = ((a[i2] + a[i2 + 1]) | (0 + a[i4]));
      for (int i5 = 0; i5 <= 0; i5 += 2)
        a[2 * i2] *= g[i2];
    }
  }
}
