/* Data chooses which of two histograms counts */
void count(const unsigned char pixels[40], const unsigned char mask[40], int inside[16], int outside[16])
{
  for (int i = 0; i < 40; i++) {
    int *bins = mask[i] ? inside : outside;
    bins[pixels[i] >> 4]++;
  }
}
