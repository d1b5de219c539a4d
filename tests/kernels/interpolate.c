// Three values for one: the given one and two between it and the next.
#define N 10
void interpolate(const int x[N + 1], int y[3 * N]) {
  for (int i = 0; i < N; i++) {
    y[3 * i] = x[i];
    y[3 * i + 1] = x[i] + (x[i + 1] - x[i]) / 3;
    y[3 * i + 2] = x[i + 1] - (x[i + 1] - x[i]) / 3;
  }
}
