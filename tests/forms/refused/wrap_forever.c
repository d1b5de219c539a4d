/* An unsigned number is never below 0. */
void clear(int a[8])
{
  for (unsigned i = 7; i >= 0; i--)
    a[i] = 0;
}
