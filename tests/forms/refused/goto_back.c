/* A loop made of goto. */
int collect(int a[8])
{
  int k = 0;
again:
  a[k] += k;
  k++;
  if (k < 8 && a[k - 1] > 0)
    goto again;
  return k;
}
