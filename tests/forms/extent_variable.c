/* A size that stands in a constant. */
int median(const int x[5])
{
  const int n = 5;
  int s[n];
  for (int i = 0; i < n; i++)
    s[i] = x[i];
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      if (s[j] < s[i]) {
        int t = s[i];
        s[i] = s[j];
        s[j] = t;
      }
  return s[n / 2];
}
