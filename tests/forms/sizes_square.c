// -D n=6
/* A matrix of n by n. */
void transpose(int n, const int a[n][n], int b[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[j][i] = a[i][j];
}
