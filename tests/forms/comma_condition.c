/* Read a character, then look at it. */
int letters(const char s[16])
{
  int i = 0, n = 0;
  char c;
  while (c = s[i], i < 15 && c != 0) {
    n += c >= 'a' && c <= 'z';
    i++;
  }
  return n;
}
