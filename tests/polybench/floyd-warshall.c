#include "polybench.h"
#ifdef MINI_DATASET
#define N 60
#else
#define N 12
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
static void kernel_floyd_warshall(int n, DATA_TYPE POLYBENCH_2D(path, N, N, n, n)) {
  int i, j, k;
#pragma scop
  for (k = 0; k < _PB_N; k++)
    for (i = 0; i < _PB_N; i++)
      for (j = 0; j < _PB_N; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}

#ifndef POLYBENCH_ALONE
int main(int argc, char **argv) {
  int n = N;
  POLYBENCH_2D_ARRAY_DECL(path, DATA_TYPE, N, N, n, n);
  kernel_floyd_warshall(n, POLYBENCH_ARRAY(path));
  return 0;
}
#endif
