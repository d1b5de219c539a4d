/* Euclid's algorithm, with the bound that Fibonacci numbers give. */
unsigned gcd(unsigned short a, unsigned short b)
{
#pragma rtlgen bound 24
  while (b != 0) {
    unsigned short t = a % b;
    a = b;
    b = t;
  }
  return a;
}
