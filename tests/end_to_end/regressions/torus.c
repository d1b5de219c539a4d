/* Subscripts with remainders: where values come from takes isl too long, and is listed. */
#define at(x, y) (((x) % 5) + 5 * ((y) % 5))
void torus(unsigned a[25], unsigned t[25]) {
  unsigned x, y;
  for (x = 0; x < 5; x++)
    for (y = 0; y < 5; y++)
      a[at(y, 2 * x + 3 * y)] = t[at(x, y)];
  for (x = 0; x < 5; x++)
    for (y = 0; y < 5; y++)
      t[at(x, y)] = ~a[at(x + 1, y)] & a[at(x + 2, y)];
}
