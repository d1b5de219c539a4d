enum { SIZE = 8 };
void f(const int a[8], int b[8], const int n) {
  const int limit = b[0];
  a[0] = 1;
  n = 2;
  SIZE = 3;
  limit += 1;
  3 = n;
}
