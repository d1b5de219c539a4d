// Lookups that a condition keeps inside of their tables, in the forms that C programs have.
#define N 40
static const int table[10] = {31, -4, 1500, 9, 26, -535, 89, 79, 323, 84};
static int inside(int x) {
  if (x < 0 || x > 9)
    return -x;
  return table[x];
}
void guarded_lookup(const signed char x[N], int a[N], int b[N], int c[N], int d[N], int e[N]) {
  for (int i = 0; i < N; i++) {
    int v = x[i] >> 3;
    a[i] = i;
    if (v >= 0 && v < 10)
      a[i] = table[v];
    b[i] = (unsigned)v < 10u ? table[v] + i : v;
    c[i] = inside(v) * 3;
    int w = v < 0 ? 0 : v > 9 ? 9 : v;
    d[i] = table[w] + v;
    if (v < 9 && v > -2 && table[v + 1] > 50)
      e[i] = v;
    else
      e[i] = -i;
  }
}
