/* The words of SHA-1, each made where it is used. */
#define LEFT(x) ((x) << 1 | (x) >> 31)
#define W(t) w[(t) & 15]
#define NEXT(t) (W(t) = LEFT(W(t - 3) ^ W(t - 8) ^ W(t - 14) ^ W(t)))
unsigned mixed(const unsigned block[16])
{
  unsigned w[16], a = 0x67452301, e = 0xc3d2e1f0;
  for (int t = 0; t < 16; t++)
    w[t] = block[t];
  for (int t = 16; t < 48; t++) {
    unsigned next = (a << 5 | a >> 27) + e + NEXT(t);
    e = a;
    a = next;
  }
  return a + e;
}
