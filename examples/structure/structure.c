/* One of two inner loops, by a condition on the outer iterator. */

#ifndef N
#define N 64
#endif

void structure(int output1[2 * N], int output2[2 * N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    if ((i & 3) == 0)
      for (int j = 0; j < N; j++)
        output1[i + j] = i * j;
    else
      for (int j = 0; j < N; j++)
        output2[i + j] = i * j;
#pragma endscop
}
