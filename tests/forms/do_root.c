/* Integer square root, two bits a step. */
unsigned root(unsigned x)
{
  unsigned bit = 1u << 30, result = 0;
  do {
    if (x >= result + bit) {
      x -= result + bit;
      result = (result >> 1) + bit;
    } else {
      result >>= 1;
    }
    bit >>= 2;
  } while (bit != 0);
  return result;
}
