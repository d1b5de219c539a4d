/* A line of a picture is written, and a part of another one read, both of which the caller chooses. */
void show(unsigned char screen[12][16], const short glyph[64], int row, int from)
{
  for (int x = 0; x < 8; x++)
    screen[row][x + 4] = (glyph[from + x] >> 3) + row;
}
