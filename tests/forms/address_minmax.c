/* Two results by address. */
static void minmax(const int a[12], int *low, int *high)
{
  *low = *high = a[0];
  for (int i = 1; i < 12; i++) {
    if (a[i] < *low) *low = a[i];
    if (a[i] > *high) *high = a[i];
  }
}
int range(const int a[12])
{
  int low, high;
  minmax(a, &low, &high);
  return high - low;
}
