// Sum of the strict lower triangle of a symmetric sum, i + j as an index.
#define N 12
int triangle_sum(const int h[2 * N]) {
  int sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++)
      sum += h[i + j];
  return sum;
}
