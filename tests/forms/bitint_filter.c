/* Samples of twelve bits. */
typedef unsigned _BitInt(12) u12;
void average(const u12 x[16], u12 y[16])
{
  u12 last = 0;
  for (int i = 0; i < 16; i++) {
    y[i] = (x[i] + last) >> 1;
    last = x[i];
  }
}
