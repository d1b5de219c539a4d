/* A sparse matrix times a vector. */
void spmv(const unsigned char start[9], const short value[64], const unsigned char column[64],
          const short x[16], int y[8])
{
  for (int i = 0; i < 8; i++) {
    int sum = 0;
    for (int k = start[i]; k < start[i + 1] && k < 64; k++)
      sum += value[k] * x[column[k] & 15];
    y[i] = sum;
  }
}
