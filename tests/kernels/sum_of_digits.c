// Decimal digits by division and remainder with constants.
#define N 64
void sum_of_digits(const unsigned short a[N], unsigned char s[N]) {
  for (int i = 0; i < N; i++)
    s[i] = a[i] % 10 + a[i] / 10 % 10 + a[i] / 100 % 10 + a[i] / 1000 % 10 + a[i] / 10000;
}
