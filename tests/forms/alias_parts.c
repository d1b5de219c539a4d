/* Parts of one buffer have names. */
void frame(unsigned char buffer[24], const unsigned char data[20])
{
  unsigned char *header = buffer, *body = buffer + 4;
  int sum = 0;
  for (int i = 0; i < 20; i++) {
    body[i] = data[i];
    sum += body[i];
  }
  header[0] = 0x55;
  header[1] = 20;
  header[2] = sum & 255;
  header[3] = sum >> 8;
}
