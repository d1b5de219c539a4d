// Pascal's triangle with other borders, modulo 2 to the 32.
#define N 9
void pascal(const unsigned edge[N], unsigned p[N][N]) {
  for (unsigned i = 0; i < N; i++)
    for (unsigned j = 0; j <= i; j++)
      if (j == 0 || j == i)
        p[i][j] = edge[i];
      else
        p[i][j] = p[i - 1][j - 1] + p[i - 1][j];
}
