/* Longest match of two windows, at most eight. */
int match(const unsigned char text[32], int at, int before)
{
  int n = 0;
  at &= 15;
  before &= 15;
  while (n < 8 && text[at + n] == text[before + n])
    ++n;
  return n;
}
