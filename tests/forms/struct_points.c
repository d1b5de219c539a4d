/* Points by value. */
typedef struct { int x, y; } point;
static point middle(point a, point b)
{
  point m = {(a.x + b.x) / 2, (a.y + b.y) / 2};
  return m;
}
void refine(const point p[9], point q[17])
{
  for (int i = 0; i < 8; i++) {
    q[2 * i] = p[i];
    q[2 * i + 1] = middle(p[i], p[i + 1]);
  }
  q[16] = p[8];
}
