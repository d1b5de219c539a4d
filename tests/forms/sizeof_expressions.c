/* sizeof of anything. */
#include <stddef.h>
size_t sizes(const short m[3][7], char c)
{
  size_t sum = 0;
  for (size_t i = 0; i < sizeof m[0] / sizeof m[0][0]; i++)
    sum += m[1][i] & 0xff;
  return sum + sizeof(c + 1) + sizeof c + sizeof(long[4]) + sizeof m[2];
}
