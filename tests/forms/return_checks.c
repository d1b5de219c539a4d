/* A frame is checked before it is used. */
#include <stdint.h>
int payload(const uint8_t frame[16], uint8_t data[12])
{
  uint8_t sum = 0;
  if (frame[0] != 0x7e)
    return -1;
  if (frame[1] > 12)
    return -2;
  for (int i = 0; i < 15; i++)
    sum += frame[i];
  if (sum != frame[15])
    return -3;
  for (int i = 0; i < 12; i++)
    data[i] = frame[i + 2];
  return frame[1];
}
