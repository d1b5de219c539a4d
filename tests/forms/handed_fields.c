/* A parser that moves the pointer of its caller. */
static unsigned get(const unsigned char **from, int bytes)
{
  unsigned value = 0;
  while (bytes-- > 0)
    value = value << 8 | *(*from)++;
  return value;
}
static void put(unsigned char **to, unsigned value)
{
  do
    *(*to)++ = value & 127;
  while (0);
}
int fields(const unsigned char packet[24], unsigned char out[8], unsigned longs[2])
{
  const unsigned char *p = packet;
  unsigned char *q = out;
  for (int i = 0; i < 2; i++) {
    unsigned kind = get(&p, 1);
    longs[i] = get(&p, 4) + kind;
    put(&q, get(&p, 2));
  }
  return (int)(p - packet) * 8 + (int)(q - out);
}
