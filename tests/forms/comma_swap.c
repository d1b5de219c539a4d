/* Reverse in groups of three. */
void reverse(int a[12])
{
  int t;
  for (int i = 0; i < 12; i += 3)
    t = a[i], a[i] = a[i + 2], a[i + 2] = t;
}
