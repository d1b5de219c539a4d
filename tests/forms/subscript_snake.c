/* Row by row, there and back. */
void snake(const int m[4][6], int line[24])
{
  int k = 0;
  for (int y = 0; y < 4; y++) {
    if (y & 1)
      for (int x = 5; x >= 0; x--)
        line[k++] = m[y][x];
    else
      for (int x = 0; x < 6; x++)
        line[k++] = m[y][x];
  }
}
