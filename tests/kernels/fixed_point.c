// Products in fixed point with 64 bits in between, and casts that cut.
#include <stdint.h>
#define N 20
#define Q 16
typedef int32_t fixed;
static inline fixed product(fixed a, fixed b) { return (fixed)(((int64_t)a * b) >> Q); }
uint64_t fixed_point(const fixed a[static N], const fixed b[static N], fixed *restrict c) {
  uint64_t sum = 0;
  for (int i = 0; i < N; i++) {
    c[i] = product(a[i], b[N - 1 - i]) + (1 << (Q - 1));
    sum += (uint32_t)c[i];
  }
  return sum;
}
