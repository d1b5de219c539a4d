// Division and remainder by constants of both signs, in every type; all bytes by many divisors.
#include <limits.h>
#include <stdint.h>
#define N 24
#define MIX(sum, x, d) ((sum) * 1000003 + (x) / (d) * 257 + (x) % (d))
void constant_quotients(const int a[N], const uint32_t u[N], const int16_t h[N],
                        const int64_t l[N], const uint64_t v[N], int q[N], uint32_t w[N],
                        int16_t s[N], int64_t p[N], uint64_t z[N], uint64_t sums[256]) {
  for (int i = 0; i < N; i++) {
    q[i] = a[i] / 9 - a[i] % 5 + a[i] / -8 + a[i] % -16 + a[i] / INT_MIN;
    w[i] = u[i] / 7 + u[i] % 10 + u[i] / 24 + u[i] % 0x80000001u + u[i] / 0xfffffffb;
    s[i] = h[i] / -100 + h[i] % 12;
    p[i] = l[i] / 1000000007LL + l[i] % -3 + l[i] / (1LL << 40);
    z[i] = v[i] / 7 ^ v[i] % 1000;
  }
  for (int i = 0; i < 256; i++) {
    int8_t x = i;
    uint8_t y = i;
    uint64_t sum = MIX(MIX(MIX(0ull, x, 3), x, -7), x, 10);
    sum = MIX(MIX(MIX(sum, x, 127), x, -128), y, 11);
    sum = MIX(MIX(MIX(sum, y, 48), y, 253), y, -6);
    sums[i] = sum ^ MIX(MIX(x / 1, y, 25), x, 2);
  }
}
