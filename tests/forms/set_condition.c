/* What is stored is asked at once. */
int limited(const int x[16], int y[16])
{
  int over = 0;
  for (int i = 0; i < 16; i++)
    if ((y[i] = x[i] / 3) > 1000)
      over += y[i] - 1000;
  return over;
}
