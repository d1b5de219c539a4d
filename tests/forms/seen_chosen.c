/* One of two buffers of other types, as numbers of a third, by way of a function. */
static void scale(unsigned short *v, int shift)
{
  for (int i = 0; i < 8; i++)
    v[i] = v[i] >> shift | 1;
}

void kernel(const int pick[2], short a[8], unsigned short b[16])
{
  for (int k = 0; k < 2; k++) {
    short *from = pick[k] > 0 ? a : (short *)b + 8;
    scale((unsigned short *)from, k + 1);
    from[k] = from[k] < 0 ? -1 : from[k];
  }
}
