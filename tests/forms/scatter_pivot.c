/* Elimination with the largest pivot of each column, in integers. */
void eliminate(int A[6][6])
{
  for (int k = 0; k < 6; k++) {
    int p = k;
    for (int i = k + 1; i < 6; i++)
      if (A[i][k] > A[p][k])
        p = i;
    for (int j = 0; j < 6; j++) {
      int t = A[k][j];
      A[k][j] = A[p][j];
      A[p][j] = t;
    }
    for (int i = k + 1; i < 6; i++)
      for (int j = k + 1; j < 6; j++)
        A[i][j] = A[i][j] * 3 - A[k][j] * (A[i][k] & 7);
  }
}
