/* Every element is the sum of the one before it in its row and of its mirror image. */

#include <stdint.h>

#ifndef N
#define N 16
#endif
#ifndef ELEMENT
#define ELEMENT int
#endif

void transposed(ELEMENT a[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      a[i][j] = a[j][i] + a[i][j - 1];
#pragma endscop
}
