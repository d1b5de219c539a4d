// y[n] = sum of h[k] * x[n - k], only over samples that exist.
#define N 24
#define TAPS 5
void fir(const short x[N], const short h[TAPS], int y[N]) {
  for (int n = 0; n < N; n++) {
    int acc = 0;
    for (int k = 0; k < TAPS; k++)
      if (n - k >= 0)
        acc += h[k] * x[n - k];
    y[n] = acc;
  }
}
