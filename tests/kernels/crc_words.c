// A CRC-32 of every word by itself, bit by bit.
#define N 24
void crc_words(const unsigned data[N], unsigned crc[N]) {
  for (int i = 0; i < N; i++) {
    unsigned rest = ~data[i];
    for (int bit = 0; bit < 8; bit++)
      rest = rest & 1u ? rest >> 1 ^ 0xedb88320u : rest >> 1;
    crc[i] = ~rest;
  }
}
