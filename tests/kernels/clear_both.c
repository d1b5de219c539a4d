// Several places set at once, and two effects in one statement.
#define N 24
int last;
void clear_both(int a[N], short b[N], const int c[N]) {
  int t;
  for (int i = 0; i < N; i++) {
    a[i] += t = b[i] = c[i] * 3;
    if (t < 0)
      a[i] ^= t, b[i]--;
  }
  last = t;
}
