/* A sum for every row, then a copy of it: the inner loop accumulates in an array. */

#ifndef GROUPS
#define GROUPS 20
#endif
#ifndef SIZE
#define SIZE 4
#endif

void accum_swg(int a[GROUPS * SIZE], int c[GROUPS])
{
  int sum[GROUPS];
#pragma scop
  for (int k = 0; k < GROUPS; k++) {
    sum[k] = 0;
    for (int i = 0; i < SIZE; i++)
      sum[k] += a[k * SIZE + i];
    c[k] = sum[k];
  }
#pragma endscop
}
