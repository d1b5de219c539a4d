// A lookup inside an accumulation: a checksum that goes through its own table.
#define N 64
static const unsigned crc[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
unsigned lookup_sum(const unsigned char data[N], unsigned trace[N]) {
  unsigned c = 0xffffffffu;
  for (int i = 0; i < N; i++) {
    c = crc[(c ^ data[i]) & 15] ^ c >> 4;
    c = crc[(c ^ (data[i] >> 4)) & 15] ^ c >> 4;
    trace[i] = c;
  }
  return ~c;
}
