/* swap() as everybody writes it. */
static void swap(int *a, int *b)
{
  int t = *a;
  *a = *b;
  *b = t;
}
void shuffle(int x[8], int *first)
{
  swap(&x[0], first);
  for (int i = 0; i < 4; i++)
    swap(&x[i], &x[7 - i]);
}
