/* Every element becomes a polynomial in its mirror image, by Horner's rule: many multiplications for
   each element, of which a row gives the constant terms. */

#include <stdint.h>

#ifndef N
#define N 16
#endif
#ifndef DEGREE
#define DEGREE 16
#endif
#ifndef ELEMENT
#define ELEMENT int
#endif

void horner(ELEMENT a[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      for (int k = 0; k < DEGREE; k++)
        a[i][j] = a[i][j] * a[j][i] + a[i][j - 1];
#pragma endscop
}
