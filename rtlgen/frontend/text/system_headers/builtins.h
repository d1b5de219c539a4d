/* What GNU C offers without a header, in C. Where its result is open (of 0, mostly), so is this one. */
typedef float _Float16;
typedef float __bf16;
typedef float _Float32;
typedef double _Float64;
typedef double _Float32x;
static unsigned int __bits_pairs(unsigned int x) { return x - (x >> 1 & 0x55555555u); }
static unsigned int __bits_fours(unsigned int x) { return (x & 0x33333333u) + (x >> 2 & 0x33333333u); }
static unsigned int __bits_bytes(unsigned int x) { return x + (x >> 4) & 0x0f0f0f0fu; }
static int __builtin_popcount(unsigned int x) { return __bits_bytes(__bits_fours(__bits_pairs(x))) * 0x01010101u >> 24; }
static unsigned int __bits_fold(unsigned int x, int by) { return x ^ x >> by; }
static int __builtin_parity(unsigned int x) { return __bits_fold(__bits_fold(__bits_fold(__bits_fold(__bits_fold(x, 16), 8), 4), 2), 1) & 1; }
static int __bits_clz4(unsigned int x) { return x >> 2 ? !(x >> 3) : 2 | !(x >> 1); }
static int __bits_clz8(unsigned int x) { return x >> 4 ? __bits_clz4(x >> 4) : 4 | __bits_clz4(x); }
static int __bits_clz16(unsigned int x) { return x >> 8 ? __bits_clz8(x >> 8) : 8 | __bits_clz8(x); }
static int __builtin_clz(unsigned int x) { return x >> 16 ? __bits_clz16(x >> 16) : 16 | __bits_clz16(x); }
static int __bits_ctz4(unsigned int x) { return x & 3 ? !(x & 1) : 2 | !(x & 4); }
static int __bits_ctz8(unsigned int x) { return x & 15 ? __bits_ctz4(x) : 4 | __bits_ctz4(x >> 4); }
static int __bits_ctz16(unsigned int x) { return x & 255 ? __bits_ctz8(x) : 8 | __bits_ctz8(x >> 8); }
static int __builtin_ctz(unsigned int x) { return x & 65535 ? __bits_ctz16(x) : 16 | __bits_ctz16(x >> 16); }
static int __builtin_ffs(int x) { return x ? 1 + __builtin_ctz(x) : 0; }
static int __builtin_clrsb(int x) { return __builtin_clz((unsigned int)(x < 0 ? ~x : x) << 1 | 1); }
static int __builtin_popcountl(unsigned long x) { return __builtin_popcount((unsigned int)x) + __builtin_popcount((unsigned int)(x >> 32)); }
static int __builtin_parityl(unsigned long x) { return __builtin_parity((unsigned int)(x ^ x >> 32)); }
static int __builtin_clzl(unsigned long x) { return x >> 32 ? __builtin_clz((unsigned int)(x >> 32)) : 32 | __builtin_clz((unsigned int)x); }
static int __builtin_ctzl(unsigned long x) { return (unsigned int)x ? __builtin_ctz((unsigned int)x) : 32 | __builtin_ctz((unsigned int)(x >> 32)); }
static int __builtin_ffsl(long x) { return x ? 1 + __builtin_ctzl(x) : 0; }
static int __builtin_clrsbl(long x) { return __builtin_clzl((unsigned long)(x < 0 ? ~x : x) << 1 | 1); }
static int __builtin_popcountll(unsigned long long x) { return __builtin_popcount((unsigned int)x) + __builtin_popcount((unsigned int)(x >> 32)); }
static int __builtin_parityll(unsigned long long x) { return __builtin_parity((unsigned int)(x ^ x >> 32)); }
static int __builtin_clzll(unsigned long long x) { return x >> 32 ? __builtin_clz((unsigned int)(x >> 32)) : 32 | __builtin_clz((unsigned int)x); }
static int __builtin_ctzll(unsigned long long x) { return (unsigned int)x ? __builtin_ctz((unsigned int)x) : 32 | __builtin_ctz((unsigned int)(x >> 32)); }
static int __builtin_ffsll(long long x) { return x ? 1 + __builtin_ctzll(x) : 0; }
static int __builtin_clrsbll(long long x) { return __builtin_clzll((unsigned long long)(x < 0 ? ~x : x) << 1 | 1); }
static unsigned short __builtin_bswap16(unsigned short x) { return x << 8 | x >> 8; }
static unsigned int __builtin_bswap32(unsigned int x) { return x >> 24 | (x >> 8 & 0xff00u) | (x << 8 & 0xff0000u) | x << 24; }
static unsigned long __builtin_bswap64(unsigned long x) { return (unsigned long)__builtin_bswap32((unsigned int)x) << 32 | __builtin_bswap32((unsigned int)(x >> 32)); }
static long __builtin_expect(long x, long expected) { return x; }
static long __builtin_expect_with_probability(long x, long expected, double probability) { return x; }
static int __builtin_abs(int n) { return n < 0 ? -n : n; }
static long __builtin_labs(long n) { return n < 0 ? -n : n; }
static long long __builtin_llabs(long long n) { return n < 0 ? -n : n; }
