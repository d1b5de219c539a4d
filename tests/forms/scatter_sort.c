/* Counting sort: counted, added up, and each put where it belongs. */
void sorted(const unsigned char x[64], unsigned char y[64])
{
  int first[16] = {0};
  for (int i = 0; i < 64; i++)
    first[x[i] & 15]++;
  int before = 0;
  for (int v = 0; v < 16; v++) {
    int count = first[v];
    first[v] = before;
    before += count;
  }
  for (int i = 0; i < 64; i++) {
    int at = first[x[i] & 15]++;
    y[at & 63] = x[i];
  }
}
