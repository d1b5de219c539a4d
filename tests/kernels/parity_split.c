// Even and odd places take different ways: a remainder of the iterator.
#define N 24
void parity_split(int a[N], const int b[N]) {
  for (int i = 0; i < N; i++) {
    if ((i & 1) == 0)
      a[i] += b[i];
    else
      a[i] ^= b[i];
    if (i % 3 == 1)
      a[i] = ~a[i];
  }
}
