void f(a)
  int a[8];
{
  a[0] = 1;
}
