/* Numbers in order. */
void sort(float x[12])
{
  for (int end = 11; end > 0; end--)
    for (int i = 0; i < end; i++)
      if (x[i] > x[i + 1]) {
        float kept = x[i];
        x[i] = x[i + 1];
        x[i + 1] = kept;
      }
}
