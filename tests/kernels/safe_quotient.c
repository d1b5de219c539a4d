// A division that is only made where the divisor is not 0.
#define N 16
void safe_quotient(const int a[N], const signed char b[N], int q[N], int r[N]) {
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    r[i] = a[i];
    if (b[i] != 0 && b[i] != -1) {
      q[i] = a[i] / b[i];
      r[i] = a[i] % b[i];
    }
  }
}
