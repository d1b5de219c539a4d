/* A broken table ends the program. */
#include <stdlib.h>
int total(const int size[8])
{
  int sum = 0;
  for (int i = 0; i < 8; i++) {
    if (size[i] == 0)
      abort();
    sum += size[i] & 0xffff;
  }
  return sum;
}
