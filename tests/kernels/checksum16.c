// Fletcher's sums with the reductions written as conditions.
#define N 24
unsigned checksum16(const unsigned char data[N]) {
  unsigned short low = 1, high = 0;
  for (int i = 0; i < N; i++) {
    low += data[i];
    if (low >= 255) low -= 255;
    high += low;
    if (high >= 255) high -= 255;
  }
  return (unsigned)high << 8 | low;
}
