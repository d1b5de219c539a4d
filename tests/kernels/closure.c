// Transitive closure of a relation.
#define N 7
void closure(unsigned char r[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        r[i][j] |= r[i][k] & r[k][j];
}
