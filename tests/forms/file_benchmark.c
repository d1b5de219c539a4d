/* A program that measures itself. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#define N 6
int A[N][N], x[N], y[N];
static double now(void) { struct timeval t; gettimeofday(&t, 0); return t.tv_sec + 1e-6 * t.tv_usec; }
void kernel(void)
{
  double start = now();
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      y[i] += A[i][j] * x[j];
  printf("%f seconds\n", now() - start);
  for (int i = 0; i < N; i++)
    x[i] = y[i] >> 2;
}
int main(void) { kernel(); return 0; }
