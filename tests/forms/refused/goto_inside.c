/* Into the middle of a loop. */
int resume(const int a[8], int start)
{
  int sum = 0, i = 0;
  if (start)
    goto middle;
  for (i = 0; i < 8; i++) {
    sum += a[i];
  middle:
    sum ^= i;
  }
  return sum;
}
