/* Checked first, then trusted. */
#include <stdlib.h>
void colours(const unsigned char index[16], const short palette[64], short out[16])
{
  for (int i = 0; i < 16; i++)
    if (index[i] == 255)
      exit(EXIT_FAILURE);
  for (int i = 0; i < 16; i++)
    out[i] = palette[index[i] & 63];
}
