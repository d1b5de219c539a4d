// Unsigned numbers go round, and compare as such.
#define N 24
void unsigned_wrap(const unsigned a[N], const int b[N], unsigned d[N], unsigned char e[N]) {
  for (unsigned i = 0; i < N; i++) {
    d[i] = a[i] - 3000000000u;
    if (d[i] < b[i])
      d[i] += b[i];
    e[i] = a[i] * 5 - 77;
    e[i] -= 200;
  }
}
