// A cascade of second-order filters, each with its own state.
#define N 10
#define S 3
void biquads(int x[N], const signed char b[S][3], const signed char a[S][2], int state[S][2]) {
  for (int s = 0; s < S; s++)
    for (int n = 0; n < N; n++) {
      int middle = x[n] - ((a[s][0] * state[s][0] + a[s][1] * state[s][1]) >> 6);
      x[n] = (b[s][0] * middle + b[s][1] * state[s][0] + b[s][2] * state[s][1]) >> 6;
      state[s][1] = state[s][0];
      state[s][0] = middle;
    }
}
