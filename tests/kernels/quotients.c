// Division and remainder, towards zero, by constants and variables of both signs.
#define N 24
void quotients(const int a[N], const int b[N], int q[N], int r[N], int c[N]) {
  for (int i = 0; i < N; i++) {
    int divisor = (b[i] | 1) % 1000;
    q[i] = a[i] / divisor;
    r[i] = a[i] % divisor;
    c[i] = a[i] / -7 + b[i] % -12 - a[i] / 16 + b[i] % 64;
  }
}
