/* A byte wraps in a subscript. */
#include <stdint.h>
void rotate(const int in[256], int out[256])
{
  for (int i = 0; i < 256; i++)
    out[(uint8_t)(i + 100)] = in[i];
}
