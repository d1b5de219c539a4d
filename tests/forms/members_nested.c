// -D w_from_pixels_EXTENT=64
/* A picture of structures, in a structure with its window */
struct pixel { unsigned char r, g, b; };
struct picture { struct pixel *pixels; unsigned char shade; };
struct window { struct picture from; int x, y; };
void grey(struct window w, unsigned char y[4][4])
{
  const struct window *seen = &w;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      struct pixel *p = &seen->from.pixels[((w.y & 3) + i) * 8 + (w.x & 3) + j];
      y[i][j] = ((p->r + 2 * p->g + p->b) >> 2) + w.from.shade;
      p->b = i;
    }
}
