/* Decompress: a byte, or some of those before. */
int unpack(const unsigned char in[16], unsigned char out[32])
{
  int ip = 0, op = 0;
  while (ip < 16 && op < 32) {
    int t = in[ip++];
    if (t & 0x80) {
      int off = (t & 15) + 1, len = (t >> 4 & 7) + 2;
      if (off > op)
        break;
      while (len-- && op < 32) {
        out[op] = out[op - off];
        op++;
      }
    } else {
      out[op++] = t;
    }
  }
  return op;
}
