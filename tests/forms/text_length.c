/* How long a text is, and how much of it another one begins with: nothing but the data ends them. */
void lengths(const char words[24], const char start[9], int found[2])
{
  char text[25], key[10];
  for (int i = 0; i < 24; i++)
    text[i] = words[i] & 0x13;
  text[24] = 0;
  for (int i = 0; i < 9; i++)
    key[i] = start[i] & 0x13;
  key[9] = 0;
  int n = 0, i;
  while (text[n])
    n++;
  for (i = 0; key[i] && key[i] == text[i]; i++)
    ;
  found[0] = n;
  found[1] = i;
}
