// d[i] = a[i] - a[i-1], the first element by itself; && keeps the read in bounds.
#define N 24
void first_difference(const int a[N], int d[N], signed char up[N]) {
  for (int i = 0; i < N; i++) {
    if (i > 0)
      d[i] = a[i] - a[i - 1];
    else
      d[i] = a[i];
    if (i > 0 && a[i] > a[i - 1])
      up[i] = i;
    else
      up[i] = -i;
  }
}
