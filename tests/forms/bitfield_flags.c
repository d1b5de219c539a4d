/* Flags of a pixel, counted and set. */
struct pixel { unsigned red : 5, green : 6, blue : 5; unsigned edge : 1; };
int edges(struct pixel row[20])
{
  int n = 0;
  for (int i = 1; i < 20; i++) {
    row[i].edge = row[i].green > row[i - 1].green + 8;
    if (row[i].edge)
      n++;
  }
  return n;
}
