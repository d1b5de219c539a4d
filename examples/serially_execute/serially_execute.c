/* Work after the inner loop on the variable that the inner loop accumulates in. */

#ifndef N
#define N 64
#endif

int serially_execute(int A[N * N], int B[N])
{
  int sum = 0;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      sum += A[i * N + j];
    sum += B[i];
  }
  return sum;
}
