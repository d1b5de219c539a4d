/* The length is a parameter, with an assertion. */
#include <assert.h>
int dot(int n, const int a[64], const int b[64])
{
  int sum = 0;
  assert(n >= 0 && n <= 64);
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}
