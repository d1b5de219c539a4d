// Saturating addition by a helper function.
#define N 32
static inline int clamp(int x, int lo, int hi) {
  return x < lo ? lo : (x > hi ? hi : x);
}
void saturating_add(const short a[N], const short b[N], short c[N]) {
  for (int i = 0; i < N; i++)
    c[i] = clamp(a[i] + b[i], -32768, 32767);
}
