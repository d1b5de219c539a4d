/* Hexadecimal digits, by ranges of characters. */
int value_of(const char text[16], unsigned long *value)
{
  int digits = 0;
  *value = 0;
  for (int i = 0; i < 16; i++) {
    int digit = -1;
    switch (text[i]) {
    case '0' ... '9':
      digit = text[i] - '0';
      break;
    case 'a' ... 'f':
    case 'A' ... 'F':
      digit = (text[i] | 32) - 'a' + 10;
      break;
    case '_':
      continue;
    }
    if (digit < 0)
      break;
    *value = *value << 4 | digit;
    digits++;
  }
  return digits;
}
