/* Hundreds of pads of statements with one instance, all the same to the schedule: 20 s of search. */
void many_equal_pads(unsigned long a[17], int b[4][10], int p) {
  int s = 3;
  unsigned char g[2];
  for (int z = 0; z < 2; z++)
    g[z] = z;
  b[1][1] *= (g[1] * 8 / (((b[2][0] % 5) & 3) + 1));
  for (int i0 = 2; i0 <= 2; i0 += 1)
    b[2][i0 - 2] *= ((2 | 70000) - (s << 2));
  for (int i1 = 3; i1 <= 4; i1 += 2)
    s = (-s - (short)s);
  for (int i2 = 8; i2 >= 3; i2 -= 1)
    for (int i3 = 1; i3 <= 2; i3 += 1)
      for (int i4 = 3; i4 <= 7; i4 += 1)
        a[i2 + i4 + 1] *= (b[i3 + 1][i2 + 1] * 8 | (7 == p));
}
