/* Division that rounds to zero. */
void centre(const int x[15], int bins[8])
{
  for (int i = 0; i < 15; i++) {
    int d = (i - 7) / 2;
    bins[d + 3] += x[i];
  }
}
