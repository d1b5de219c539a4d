// --function f
int later(int);
int g(int x) { return x + 1; }
int deep(int a[4]) { int s = 0; for (int i = 0; i < 4; i++) s += a[i]; return s; }
int set(int a[4]) { a[0] = 3; return 1; }
int even(int n);
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
void jump(int a[4]) {
  while (a[0] > 2) a[0] /= 3;
}
void f(int a[4], short b[4]) {
  a[0] = unknown(a[1]);
  a[0] = later(a[1]);
  a[0] = g(a[1], 3);
  a[0] = g(jump(a));
  a[1] = deep(b);
  for (int i = 0; i < deep(a); i++) a[i] = 0;
  a[2] = a[0] + set(a);
  a[3] = even(4);
  f(a, b);
  jump(a);
}
