// A matrix that is constant along its diagonals, times a vector, and one along the others.
#define N 20
void toeplitz(const short t[2 * N - 1], const short h[2 * N - 1], const short x[N], int y[N]) {
  for (int i = 0; i < N; i++) {
    y[i] = 0;
    for (int j = 0; j < N; j++)
      y[i] += t[N - 1 - i + j] * x[j] - h[i + j] * x[N - 1 - j];
  }
}
