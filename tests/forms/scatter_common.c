/* What two sorted lists have in common. */
int common(const int a[16], const int b[16], int c[16]) {
  int i = 0, j = 0, n = 0;
  while (i < 16 && j < 16) {
    if (a[i] < b[j]) i++;
    else if (a[i] > b[j]) j++;
    else { c[n++] = a[i]; i++; j++; }
  }
  return n;
}
