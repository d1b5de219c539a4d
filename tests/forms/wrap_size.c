/* size_t downwards, as it is done. */
#include <stddef.h>
long weighted(const int x[10])
{
  long sum = 0;
  for (size_t i = 10; i-- > 0;)
    sum = sum * 2 + x[i];
  return sum;
}
