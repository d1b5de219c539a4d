/* Rows in three phases, of which the last one overwrites what the second one has stored. */
void row_hash(const int x[256][64], int y[256][64]) {
  for (int r = 0; r < 256; r++) {
    int hash = 1, sum = 0;
    for (int i = 0; i < 64; i++)
      hash = 33 * hash + x[r][i];
    for (int i = 0; i < 64; i++) {
      int value = x[r][i] ^ hash;
      y[r][i] = value;
      sum = 31 * sum + value;
    }
    for (int i = 0; i < 64; i++)
      y[r][i] ^= sum;
  }
}
