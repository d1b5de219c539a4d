// Coefficients of a block in zigzag order, quantised; the order is a table, the block a flat pointer.
static const unsigned char order[64] = {
   0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
  58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

void zigzag(const short block[8][8], const unsigned char q[64], short out[64])
{
  for (int k = 0; k < 64; k++)
    out[k] = block[order[k] >> 3][order[k] & 7] / ((q[k] & 15) + 1);
}
