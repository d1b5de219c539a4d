int a[8];
void f(int b[8]);
