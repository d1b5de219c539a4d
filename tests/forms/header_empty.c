/* Run lengths, in a loop whose header says nothing. */
int runs(const char s[20], unsigned char length[20])
{
  int i = 0, n = 0;
#pragma rtlgen bound 20
  for (;;) {
    int start = i;
    while (i < 20 && s[i] == s[start])
      i++;
    length[n++] = i - start;
    if (i >= 20)
      break;
  }
  return n;
}
