/* Binary literals and separators. */
void masks(const unsigned x[8], unsigned y[8])
{
  for (int i = 0; i < 8; i++)
    y[i] = (x[i] & 0b1010'1010) * 1'000u + 0xFFFF'0000;
}
