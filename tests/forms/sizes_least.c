/* The shorter one of two lengths. */
int compare(const char *a, int la, const char *b, int lb)
{
  int n = la < lb ? la : lb;
  if (n > 24)
    n = 24;
  for (int i = 0; i < n; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return la - lb;
}
