/* Nothing says how large n may be. */
int power(int x, int n)
{
  int y = 1;
  for (int i = 0; i < n; i++)
    y *= x;
  return y;
}
