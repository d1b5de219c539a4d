/* The nearest of four centres. */
struct point { float x, y; };
void nearest(const struct point p[16], const struct point centre[4], int label[16])
{
  for (int i = 0; i < 16; i++) {
    float best = 1e30f;
    int which = -1;
    for (int k = 0; k < 4; k++) {
      float dx = p[i].x - centre[k].x, dy = p[i].y - centre[k].y;
      float distance = dx * dx + dy * dy;
      if (distance < best) {
        best = distance;
        which = k;
      }
    }
    label[i] = which;
  }
}
