/* One accumulator over a perfect nest: where to pipeline it is the user's choice. */

#ifndef N
#define N 20
#endif

int acc;

void loop_pipeline(int A[N])
{
#pragma scop
LOOP_I:
  for (int i = 0; i < N; i++)
  LOOP_J:
    for (int j = 0; j < N; j++)
      acc += A[j] * i;
#pragma endscop
}
