/* Rows of c are stored to at places that iterators tell, in ways that are computed. */
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
static void filled(uint16_t z[7])
{
  for (int i = 3; i <= 6; i += 3)
    z[i - 1] = 5 / 7;
}
static const long T[8] = {5, 1, 77, 5, 1099511627776, 1, -2147483648};
uint16_t a[7];
uint16_t b[3][7];
unsigned scatter_that_iterators_tell(uint16_t c[4][7])
{
  bool s = 9;
  int k3 = 1;
  for (size_t i2 = 0; i2 <= 3; i2 += 3) {
    int k5 = 3;
    for (uint8_t i4 = 0; 5 >= i4; ++i4) {
      if (((i4 / 2) + T[i2 >> 1]) >= !(c[k3 > 0 ? k3 : 0][(k5 * 2) % 7])) {
        if ((a[(k3 < 0 ? k3 : 0) + 1]) * (-2147483648) < ((-1)) * c[(i2 > 2 ? i2 : 2) - 1][k3 / 4])
          filled(c[(k3 > 0 ? k3 : 0) + 1]);
        filled(b[(i2 > 2 ? i2 : 2) - 1]);
        if (((k3 > 1 ? k3 : 1)) / 3 >= a[i2 < 1 ? i2 : 1])
          filled(c[(4 - 1)]);
      } else {
        filled(b[k3 == 0 ? 2 : k3]);
      }
      if (++k5 == 5)
        k5 = 0;
    }
    k3++;
    if (k3 >= 2)
      k3 = 0;
  }
  return s;
}
