/* Seven bits a byte, as in protocol buffers. */
int varint(unsigned value, unsigned char out[5])
{
  int n = 0;
  do {
    unsigned char byte = value & 0x7f;
    value >>= 7;
    if (value)
      byte |= 0x80;
    out[n++] = byte;
  } while (value);
  return n;
}
