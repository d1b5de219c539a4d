/* What a caller does not want to know is a null pointer. */
#include <stddef.h>
static int divide(int a, int b, int *rest, const void *mask)
{
  const unsigned char *bits = (const unsigned char *)mask;
  int q = b == 0 ? 0 : a / b;
  if (rest)
    *rest = a - q * b;
  return bits != NULL ? q & bits[0] : q;
}
void divided(const short a[8], const short b[8], int q[8], int r[8], const unsigned char mask[1])
{
  for (int i = 0; i < 8; i++) {
    q[i] = divide(a[i], b[i], &r[i], NULL);
    q[i] += divide(b[i], a[i], NULL, mask);
  }
}
