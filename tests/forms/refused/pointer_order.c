/* Pointers into different arrays have no order. */
int before(int *a, int *b)
{
  int *p = a;
  int n = 0;
  for (int i = 0; i < 8; i++)
    n += p++ < b;
  return n;
}
