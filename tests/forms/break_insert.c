/* Insertion sort. */
void sort(int a[8])
{
  for (int i = 1; i < 8; i++)
    for (int j = i; j > 0; j--) {
      if (a[j - 1] <= a[j])
        break;
      int t = a[j];
      a[j] = a[j - 1];
      a[j - 1] = t;
    }
}
