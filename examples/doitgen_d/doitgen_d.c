/* A[r][q][:] = A[r][q][:] * C4, row by row through one row of sums, all trip counts different. */

#ifndef NR
#define NR 8
#endif
#ifndef NQ
#define NQ 9
#endif
#ifndef NP
#define NP 11
#endif

void doitgen_d(int A[NR][NQ][NP], int C4[NP][NP], int sum[NP])
{
#pragma scop
  for (int r = 0; r < NR; r++)
    for (int q = 0; q < NQ; q++) {
      for (int p = 0; p < NP; p++) {
        sum[p] = 0;
        for (int s = 0; s < NP; s++)
          sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < NP; p++)
        A[r][q][p] = sum[p];
    }
#pragma endscop
}
