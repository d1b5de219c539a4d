/* Two chained matrix products whose nests have different trip counts. */

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

void mms_d(int a[NI][NK], int b[NK][NJ], int c[NI][NL], int d[NI][NJ], int e[NL][NJ])
{
#pragma scop
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++)
      for (int k = 0; k < NK; k++)
        c[i][j] += a[i][k] * b[k][j];
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NL; j++)
      for (int k = 0; k < NJ; k++)
        d[i][k] += c[i][j] * e[j][k];
#pragma endscop
}
