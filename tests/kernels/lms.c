// An adaptive filter: every output corrects the weights.
#define N 20
#define T 4
void lms(const short x[N + T], const short wanted[N], int w[T], int error[N]) {
  for (int n = 0; n < N; n++) {
    int y = 0;
    for (int k = 0; k < T; k++)
      y += (w[k] >> 8) * x[n + k];
    error[n] = wanted[n] - (y >> 8);
    for (int k = 0; k < T; k++)
      w[k] += error[n] * x[n + k] >> 12;
  }
}
