/* A histogram, bin by bin. */
void histogram(const unsigned char x[20], int bins[8])
{
  for (int b = 0; b < 8; b++) {
    int n = 0;
    for (int i = 0; i < 20; i++)
      if (x[i] / 32 == b)
        n++;
    bins[b] = n;
  }
}
