/* Merge two sorted lists. */
void merge(const int a[6], const int b[6], int out[12])
{
  int i = 0, j = 0;
  for (int k = 0; k < 12; k++) {
    if (j == 6 || (i < 6 && a[i] <= b[j]))
      out[k] = a[i++];
    else
      out[k] = b[j++];
  }
}
