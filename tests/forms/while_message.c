/* Fields of a message: tag, length, bytes. */
int parse(const unsigned char msg[32], int sums[2])
{
  int at = 0, fields = 0;
  while (at + 2 <= 32) {
    int tag = msg[at] & 1, length = msg[at + 1] & 7;
    if (at + 2 + length > 32)
      break;
    for (int i = 0; i < length; i++) {
      if (tag)
        sums[1] += msg[at + 2 + i];
      else
        sums[0] += msg[at + 2 + i];
    }
    at += 2 + length;
    fields++;
  }
  return fields;
}
