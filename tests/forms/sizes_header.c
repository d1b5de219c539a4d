/* A length that stands in the message. */
int checksum(const unsigned char msg[32])
{
  int n = msg[0], sum = 0;
  if (n > 31)
    return -1;
  for (int i = 1; i <= n; i++)
    sum += msg[i];
  return sum & 255;
}
