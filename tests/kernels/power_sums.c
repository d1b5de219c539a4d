// Sums of powers in 64 bits, returned, with a table of partial sums.
#define N 20
long long power_sums(const short a[N], long long part[N]) {
  long long s1 = 0, s2 = 0, s3 = 0;
  for (long i = 0; i < N; i++) {
    long long x = a[i];
    s1 += x, s2 += x * x, s3 += x * x * x;
    part[i] = s3 - 3 * s2 + 2 * s1;
  }
  return s1 * s2 - s3;
}
