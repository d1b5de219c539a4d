#define 3 4
void f(int a[8]) { a[0] = 1; }
