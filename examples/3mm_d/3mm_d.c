/* G = (A * B) * (C * D), all trip counts different. */

#ifndef NI
#define NI 8
#endif
#ifndef NJ
#define NJ 9
#endif
#ifndef NK
#define NK 11
#endif
#ifndef NL
#define NL 12
#endif
#ifndef NM
#define NM 10
#endif

void k3mm_d(int A[NI][NK], int B[NK][NJ], int C[NJ][NM], int D[NM][NL], int E[NI][NJ],
            int F[NJ][NL], int G[NI][NL])
{
#pragma scop
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) {
      E[i][j] = 0;
      for (int k = 0; k < NK; k++)
        E[i][j] += A[i][k] * B[k][j];
    }
  for (int j = 0; j < NJ; j++)
    for (int l = 0; l < NL; l++) {
      F[j][l] = 0;
      for (int m = 0; m < NM; m++)
        F[j][l] += C[j][m] * D[m][l];
    }
  for (int i = 0; i < NI; i++)
    for (int l = 0; l < NL; l++) {
      G[i][l] = 0;
      for (int j = 0; j < NJ; j++)
        G[i][l] += E[i][j] * F[j][l];
    }
#pragma endscop
}
