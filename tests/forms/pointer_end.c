/* From begin to end. */
int sum(const int a[16])
{
  const int *p = a, *end = a + 16;
  int total = 0;
  while (p < end)
    total += *p++;
  return total;
}
