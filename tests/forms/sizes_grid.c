/* The forces between the points of neighbouring cells, of which each has some. */
typedef struct { int x, y; } point;
void forces(const int count[4], point at[4][8], point force[4][8])
{
  for (int b = 0; b < 3; b++) {
    point *other = at[b + 1];
    int most = count[b + 1];
    if (count[b] > 8 || most > 8)
      continue;
    for (int i = 0; i < count[b]; i++) {
      point p = at[b][i];
      int sum = 0;
      for (int j = 0; j < most; j++) {
        point q = *(other + j);
        if (q.x != p.x)
          sum += (q.x - p.x) * (q.y - p.y);
      }
      force[b][i].x += sum;
    }
  }
}
