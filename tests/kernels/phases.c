// What is done depends on the place, by remainders and bits of the iterator.
#define N 36
void phases(const int a[N], int b[N], int c[N]) {
  for (int i = 0; i < N; i++) {
    if ((i & 3) == 0)
      b[i] = a[i];
    else if (i % 3 == 1)
      b[i] = -a[i];
    else
      b[i] = a[i] + i;
    c[i] = b[i] * (i % 5 + 1);
  }
}
