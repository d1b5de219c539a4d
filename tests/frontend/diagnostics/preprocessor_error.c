#ifndef SIZE
#error SIZE must be given
#endif
void f(int a[8]) { a[0] = 1; }
