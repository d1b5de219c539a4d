static int last(int n, const int a[8])
{
  int sum = 0;
  for (; n > 0; n--)
    sum += a[n];
  return sum;
}

void f(const int a[8], int b[1])
{
  b[0] = last(5, a);
}
