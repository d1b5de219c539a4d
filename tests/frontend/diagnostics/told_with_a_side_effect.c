#include <assert.h>
int f(int a[8]) {
  int n = 0;
  for (int i = 0; i < 8; i++) {
    assert(n++ < 8);
    a[i] = n;
  }
  return n;
}
