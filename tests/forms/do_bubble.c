/* Bubble sort that stops when nothing was swapped. */
void sort(int a[8])
{
  int n = 8, swapped;
  do {
    swapped = 0;
    for (int i = 1; i < n; i++)
      if (a[i - 1] > a[i]) {
        int t = a[i];
        a[i] = a[i - 1];
        a[i - 1] = t;
        swapped = 1;
      }
    n--;
  } while (swapped && n > 1);
}
