int g(int x) { return x + 1; }
void f(int a[8]) {
#pragma scop
  a[0] = g(a[1]);
  f(a);
  a[2] = abs(a[2]);
#pragma endscop
}
