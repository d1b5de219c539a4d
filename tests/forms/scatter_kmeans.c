/* One step of k-means: the sums of the nearest centre grow. */
void step(const short x[48], const short y[48], const short at_x[4], const short at_y[4],
          int sum_x[4], int sum_y[4], int members[4])
{
  for (int k = 0; k < 4; k++)
    sum_x[k] = sum_y[k] = members[k] = 0;
  for (int i = 0; i < 48; i++) {
    int best = 0, nearest = 0x7fffffff;
    for (int k = 0; k < 4; k++) {
      int dx = (x[i] - at_x[k]) >> 2, dy = (y[i] - at_y[k]) >> 2;
      int d = dx * dx + dy * dy;
      if (d < nearest) {
        nearest = d;
        best = k;
      }
    }
    sum_x[best] += x[i];
    sum_y[best] += y[i];
    members[best]++;
  }
}
