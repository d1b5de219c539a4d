#include <stddef.h>
struct color;
void f(int a[8], enum colour b, void *c, unsigned __int128 d, long double e) {
  a[0] = b + c[0] + d;
  a[1] = e;
}
