/* A function returns the address of a cell. */
struct cell { int level, flow; };
static struct cell *at(struct cell *grid, int x, int y) { return &grid[4 * y + x]; }
static int *higher(int *a, int *b)
{
  if (*a > *b)
    return a;
  return b;
}
void settle(struct cell grid[16], int raised[4])
{
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 3; x++)
      at(grid, x, y)->flow = at(grid, x + 1, y)->level - at(grid, x, y)->level;
  for (int y = 0; y < 4; y++)
    raised[y] = *higher(&grid[4 * y].level, &grid[4 * y + 3].flow);
}
