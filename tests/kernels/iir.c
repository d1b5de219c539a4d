// A first-order low pass in fixed point, with rounding.
#define N 24
void iir(const short x[N], short y[N]) {
  int state = 0;
  for (int n = 0; n < N; n++) {
    state += ((x[n] << 8) - state + 4) >> 3;
    y[n] = state >> 8;
  }
}
