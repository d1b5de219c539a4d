/* D = alpha * A * B * C + beta * D, all trip counts different. */

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

void k2mm_d(int alpha, int beta, int A[NI][NK], int B[NK][NJ], int C[NJ][NL], int D[NI][NL],
            int tmp[NI][NJ])
{
#pragma scop
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) {
      tmp[i][j] = 0;
      for (int k = 0; k < NK; k++)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < NI; i++)
    for (int l = 0; l < NL; l++) {
      D[i][l] *= beta;
      for (int j = 0; j < NJ; j++)
        D[i][l] += tmp[i][j] * C[j][l];
    }
#pragma endscop
}
