int count(void);
void f(int a[8]) {
  int t[0];
  int u[3 - 5];
  int v[a[0]];
  a[0] = t[0] + u[0] + v[0];
}
