// Parities of the numbers of paths, 32 graphs at a time, one a bit.
#define N 7
void closure(unsigned r[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        r[i][j] ^= r[i][k] & r[k][j];
}
