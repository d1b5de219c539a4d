// A pseudo-random sequence from a seed that is a scalar parameter.
#define N 24
void xorshift(unsigned seed, unsigned out[N]) {
  unsigned x = seed;
  for (int i = 0; i < N; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    out[i] = x;
  }
}
