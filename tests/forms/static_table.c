/* A table that only a helper knows. */
static unsigned char reversed(unsigned char x)
{
  static const unsigned char nibble[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
  return nibble[x & 15] << 4 | nibble[x >> 4];
}
void reverse_all(unsigned char x[10])
{
  for (int i = 0; i < 10; i++)
    x[i] = reversed(x[i]);
}
