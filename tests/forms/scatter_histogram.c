/* Bins by data. */
void histogram(const unsigned char x[64], int bins[16])
{
  for (int i = 0; i < 64; i++)
    bins[x[i] >> 4]++;
}
