// Reverses the bits of each byte with shifts and masks.
#define N 32
void bit_reverse(const unsigned char a[N], unsigned char b[N]) {
  for (int i = 0; i < N; i++) {
    unsigned x = a[i];
    x = (x & 0x0f) << 4 | (x & 0xf0) >> 4;
    x = (x & 0x33) << 2 | (x & 0xcc) >> 2;
    x = (x & 0x55) << 1 | (x & 0xaa) >> 1;
    b[i] = x;
  }
}
