void f(int a[8]) { a[0] = 1; }
void g(int a[8]) { a[0] = 2; }
