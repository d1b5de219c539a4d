/* A register of a device. */
volatile unsigned status;
unsigned poll(const unsigned events[16])
{
  for (int i = 0; i < 16; i++)
    status |= events[i] & 0xf0f0;
  return status;
}
