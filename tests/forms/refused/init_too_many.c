/* More values than elements. */
int sum(void)
{
  int w[3] = {1, 2, 3, 4}, s = 0;
  for (int i = 0; i < 3; i++)
    s += w[i];
  return s;
}
