// All widths, signed and not, in one expression.
#define N 16
void mixed_widths(const signed char a[N], const unsigned short b[N], const unsigned c[N],
                  long long d[N], unsigned long e[N]) {
  for (int i = 0; i < N; i++) {
    d[i] += (long long)a[i] * c[i] - b[i];
    e[i] = (e[i] >> 3) ^ (unsigned long)d[i] ^ (a[i] < 0 ? c[i] : b[i]);
  }
}
