/* A range coder makes its range large again, and a quantiser a mantissa, until the word is full. */
int narrow(unsigned range, int x, int out[2])
{
  int bits = 0, mantissa = (x & 15) + 1;
  range |= 1;
  while (range <= 0x800000) {
    range <<= 8;
    bits += 8;
  }
  while (mantissa <= 7) {
    mantissa = mantissa << 1 | 1;
    bits--;
  }
  out[0] = range >> 8;
  out[1] = mantissa - 8;
  return bits;
}
