_Static_assert(sizeof(long) == 4, "another machine");
void f(int a[8]) { a[0] = 1; }
