#include "sizes.h"
void f(int a[N]) { a[0] = 1; }
