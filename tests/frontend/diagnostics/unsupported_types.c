#include <stdbool.h>
enum color { RED };
void f(bool a[8], enum color b, void *c, unsigned __int128 d, long double e) {
  a[0] = 1;
}
