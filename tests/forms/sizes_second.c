/* As many as are asked for, at most 16. */
void copy(int n, const int a[16], int b[16])
{
  for (int i = 0; i < n && i < 16; i++)
    b[i] = a[i];
}
