/* The shortest paths between all pairs of nodes, by Floyd and Warshall. */

#ifndef N
#define N 64
#endif

void floyd(int p[N][N])
{
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];
}
