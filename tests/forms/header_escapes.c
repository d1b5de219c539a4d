/* The byte behind a backslash is taken as it is: the body moves the iterator on. */
int unescape(const unsigned char s[24], unsigned char out[24])
{
  int n = 0;
  for (int i = 0; i < 24; i++) {
    if (s[i] == '\\' && i < 23)
      i++;
    out[n++] = s[i];
  }
  return n;
}
