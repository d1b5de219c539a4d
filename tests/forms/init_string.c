/* Characters of a string. */
void hex(unsigned value, char text[9])
{
  const char *digit = "0123456789abcdef";
  for (int i = 0; i < 8; i++)
    text[i] = digit[value >> (28 - 4 * i) & 15];
  text[8] = '\0';
}
