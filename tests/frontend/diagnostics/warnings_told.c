#include <assert.h>
#include <stdio.h>
static int twice(int x) { assert(x < 100); return 2 * x; }
static int unused(int x) { printf("%d\n", x); return x; }
void f(int a[8], int n) {
  puts("not in the region");
#pragma scop
  for (int i = 0; i < 8; i++) {
    assert(a[i] >= 0 && "never negative");
    if (i == 3) printf("%d\n", n);
    a[i] = twice(a[i]) + n;
  }
#pragma endscop
}
