// b[i] = a[0] + ... + a[i]: a running total in a local scalar.
#define N 24
void prefix_sum(const int a[N], int b[N]) {
  int total = 0;
  for (int i = 0; i < N; i++) {
    total += a[i];
    b[i] = total;
  }
}
