#include <stdio.h>
static int next(int *seed) { return *seed = *seed * 5 + 1; }
static int twice(int *seed) { return 2 * next(seed); }
void f(int a[8]) {
  for (int i = 0; i < 8; i++)
    printf("%d\n", twice(a));
}
