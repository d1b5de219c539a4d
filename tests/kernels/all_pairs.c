// Shortest paths between all pairs of nodes (Floyd and Warshall), in place.
#define N 6
#define MIN(x, y) ((x) < (y) ? (x) : (y))
void all_pairs(int d[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        d[i][j] = MIN(d[i][j], d[i][k] + d[k][j]);
}
