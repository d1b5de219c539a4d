/* The bytes of a text, as unsigned ones, turned and counted in place. */
int kernel(char text[32], int count[4])
{
  unsigned char *p = (unsigned char *)text;
  int sum = 0;
  for (int i = 0; i < 32; i++) {
    count[p[i] >> 6]++;
    *p ^= 0x80;
    p[i] = p[i] / 3 + i;
    sum += p[i];
  }
  return sum;
}
