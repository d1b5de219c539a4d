/* A table that is too short for its index. */
int decode(const unsigned char code[8], const int table[200])
{
  int sum = 0;
  for (int i = 0; i < 8; i++)
    sum += table[code[i]];
  return sum;
}
