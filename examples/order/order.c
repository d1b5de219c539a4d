/* A triangle: the inner loop has another trip count in every iteration of the outer one. */

#ifndef N
#define N 64
#endif

int order(int input[2 * N])
{
  int sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++)
      sum += input[i + j];
  return sum;
}
