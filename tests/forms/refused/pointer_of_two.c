/* Data chooses the array. */
void fill(int *a, int *b, int second)
{
  int *p = a;
  if (second)
    p = b;
  for (int i = 0; i < 8; i++)
    *p++ = i;
}
