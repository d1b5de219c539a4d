/* Nothing but C keeps the bin inside of the bins. */
void histogram(const int x[64], int bins[16])
{
  for (int i = 0; i < 64; i++)
    bins[x[i]]++;
}
