#if 1
void f(int a[8]) { a[0] = 1; }
