/* A stencil between two buffers that change places */
void smooth(int source[18], int target[18])
{
  int *from = source, *to = target;
  for (int step = 0; step < 6; step++) {
    for (int i = 1; i < 17; i++)
      to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) >> 2;
    int *swapped = from;
    from = to;
    to = swapped;
  }
}
