// Sums kept in types that are narrower than what is added.
#define N 24
void narrow_sums(const int a[N], signed char c[N], short s[N]) {
  char sum = 0;
  short product = 1;
  for (int i = 0; i < N; i++) {
    sum += a[i];
    product *= (a[i] | 1);
    c[i] = sum;
    s[i] = product;
  }
}
