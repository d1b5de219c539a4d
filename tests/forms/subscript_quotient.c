/* Quotients and remainders of differences. */
void unpack(const int packed[16], int planes[4][4])
{
  for (int i = 3; i < 19; i++)
    planes[(i - 3) % 4][(i - 3) / 4] = packed[i - 3];
}
