/* Parameters that are swapped: passes of a sort by counting */
void sort_bytes(unsigned src[24], unsigned dst[24])
{
  for (int shift = 0; shift < 32; shift += 8) {
    int count[256] = {0}, sum = 0;
    for (int i = 0; i < 24; i++)
      count[src[i] >> shift & 255]++;
    for (int k = 0; k < 256; k++) {
      int held = count[k];
      count[k] = sum;
      sum += held;
    }
    for (int i = 0; i < 24; i++) {
      unsigned at = count[src[i] >> shift & 255]++;
      dst[at % 24] = src[i];
    }
    unsigned *swapped = src;
    src = dst;
    dst = swapped;
  }
}
