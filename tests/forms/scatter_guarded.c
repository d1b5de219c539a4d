/* Pointers that are set where a condition keeps them inside. */
static void bump(int *p)
{
  p[0]++;
  p[1]--;
}
void guarded(const signed char x[16], int a[8], int b[8])
{
  for (int i = 0; i < 16; i++) {
    if (x[i] >= 0 && x[i] < 7)
      bump(&a[x[i]]);
    int k = -x[i];
    if (k < 0 || k > 7)
      continue;
    int *p = &b[k];
    *p += i;
  }
}
