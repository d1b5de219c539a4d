/* Horner's rule: only a condition in the header. */
int horner(const int c[7], int x)
{
  int y = 0;
  for (int k = 7; k--;)
    y = y * x + c[k];
  return y;
}
