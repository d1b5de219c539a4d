/* The largest number, and where it is. */
int largest(const _Float16 x[24])
{
  int at = 0;
  for (int i = 1; i < 24; i++)
    if (x[i] > x[at])
      at = i;
  return at;
}
