/* Sizes that are known expressions. */
enum { ROWS = 3, COLUMNS = 5 };
static const int guard = 1;
int sum(const short image[ROWS][COLUMNS])
{
  int padded[(ROWS + 2) * (COLUMNS + 2)] = {0}, total = 0;
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < COLUMNS; x++)
      padded[(y + guard) * (COLUMNS + 2) + x + guard] = image[y][x];
  for (int i = 0; i < (ROWS + 2) * (COLUMNS + 2); i++)
    total = total * 3 + padded[i];
  return total;
}
