/* How far two sorted lists have been looked at, and what they share. */
int common(const short a[8], const short b[8])
{
  int i = 0, j = 0, n = 0;
  while (i < 8 && j < 8) {
    if (a[i] < b[j])
      i++;
    else if (a[i] > b[j])
      j++;
    else
      n++, i++, j++;
  }
  return n;
}
