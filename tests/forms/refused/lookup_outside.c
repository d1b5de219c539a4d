/* The first codes are no letters, and the table begins with them. */
int decode(const unsigned char code[8], const int table[32])
{
  int sum = 0;
  for (int i = 0; i < 8; i++)
    sum += table[(code[i] & 31) + 'A'];
  return sum;
}
