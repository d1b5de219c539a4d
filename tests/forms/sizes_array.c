/* The array says how many there can be. */
void scale(int n, const int x[40], int y[40], int gain)
{
  for (int i = 0; i < n; i++)
    y[i] = gain * x[i];
}
