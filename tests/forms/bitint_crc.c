/* A CRC of five bits, as in USB. */
typedef unsigned _BitInt(5) u5;
u5 crc5(const unsigned char data[4])
{
  u5 crc = 0x1f;
  for (int i = 0; i < 4; i++)
    for (int bit = 0; bit < 8; bit++) {
      unsigned one = (data[i] >> bit & 1) ^ (crc >> 4);
      crc <<= 1;
      if (one)
        crc ^= 5;
    }
  return ~crc;
}
