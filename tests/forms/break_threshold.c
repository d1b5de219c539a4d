/* Where the running sum passes a limit. */
int crossing(const short x[32], int limit)
{
  int i, sum = 0;
  for (i = 0; i < 32; i++) {
    sum += x[i];
    if (sum > limit)
      break;
  }
  return i;
}
