/* The halves of an array as two. */
static int fold(int *low, const int *high)
{
  int sum = 0;
  for (int i = 0; i < 8; i++) {
    low[i] ^= high[i];
    sum += low[i];
  }
  return sum;
}
int folded(int a[16])
{
  int first = fold(a, a + 8);
  return first - fold(&a[4], &a[0]);
}
