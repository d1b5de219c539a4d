/* 96 bits. */
unsigned _BitInt(96) product(unsigned long a, unsigned b)
{
  return (unsigned _BitInt(96))a * b;
}
