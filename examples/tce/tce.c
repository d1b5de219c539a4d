/* Four-index transform of a tensor contraction engine, one index a nest:
   B[a][b][c][d] += C4[p][a] * C3[q][b] * C2[r][c] * C1[s][d] * A[p][q][r][s], summed over p, q, r, s. */

#ifndef N
#define N 8
#endif

void tce(int A[N][N][N][N], int C1[N][N], int C2[N][N], int C3[N][N], int C4[N][N],
         int T1[N][N][N][N], int T2[N][N][N][N], int T3[N][N][N][N], int B[N][N][N][N])
{
#pragma scop
  for (int a = 0; a < N; a++)
    for (int q = 0; q < N; q++)
      for (int r = 0; r < N; r++)
        for (int s = 0; s < N; s++)
          for (int p = 0; p < N; p++)
            T1[a][q][r][s] += A[p][q][r][s] * C4[p][a];
  for (int a = 0; a < N; a++)
    for (int b = 0; b < N; b++)
      for (int r = 0; r < N; r++)
        for (int s = 0; s < N; s++)
          for (int q = 0; q < N; q++)
            T2[a][b][r][s] += T1[a][q][r][s] * C3[q][b];
  for (int a = 0; a < N; a++)
    for (int b = 0; b < N; b++)
      for (int c = 0; c < N; c++)
        for (int s = 0; s < N; s++)
          for (int r = 0; r < N; r++)
            T3[a][b][c][s] += T2[a][b][r][s] * C2[r][c];
  for (int a = 0; a < N; a++)
    for (int b = 0; b < N; b++)
      for (int c = 0; c < N; c++)
        for (int d = 0; d < N; d++)
          for (int s = 0; s < N; s++)
            B[a][b][c][d] += T3[a][b][c][s] * C1[s][d];
#pragma endscop
}
