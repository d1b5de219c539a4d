#inclde <stdint.h>
void f(int a[8]) { a[0] = 1; }
