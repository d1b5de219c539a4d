/* Two counters, one header. */
int palindrome(const char s[16])
{
  int i, j, same;
  for (i = 0, j = 15, same = 1; i < j; i++, j--)
    same = same && s[i] == s[j];
  return same;
}
