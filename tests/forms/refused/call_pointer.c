/* The host says which function is called. */
void apply(int a[8], int (*op)(int, int))
{
  for (int i = 0; i < 8; i++)
    a[i] = op(a[i], i);
}
