// A CRC-CCITT over bytes, bit by bit, in the branches of an `if`.
typedef unsigned short u16;
#define N 20
u16 crc_ccitt(const unsigned char data[N]) {
  u16 crc = 0xffff;
  for (int i = 0; i < N; i++) {
    crc ^= (u16)(data[i] << 8);
    for (int bit = 0; bit < 8; bit++) {
      if (crc & 0x8000)
        crc = (u16)((crc << 1) ^ 0x1021);
      else
        crc <<= 1;
    }
  }
  return crc;
}
