/* Sums that saturate, by functions that call one another and note in a global what happened. */
int flags;
static int rounded(int x)
{
  if (x & 3)
    flags |= 1;
  return (x + 2) >> 2;
}
static int limited(int x)
{
  if (x > 1000) {
    flags |= 2;
    return 1000;
  }
  return rounded(x);
}
static int add(int a, int b)
{
  int sum = a + b;
  if (sum < 0)
    return -limited(-sum);
  else
    return limited(sum);
}
void sums(const short a[16], const short b[16], int z[16])
{
  for (int i = 0; i < 16; i++)
    z[i] = add(a[i], b[i]);
}
