// Three levels of time change places by their numbers, two lines of a picture by their offsets.
#define N 10
#define STEPS 7
void time_levels(int u[3][N], const int c[N], int lines[2 * N]) {
  int before = 0, now = 1, next = 2;
  int from = 0, to = N;
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++) {
      u[next][i] = 2 * u[now][i] - u[before][i] + c[i] * (u[now][i - 1] + u[now][i + 1]);
      lines[to + i] = (lines[from + i - 1] + lines[from + i + 1]) / 2 + u[next][i];
    }
    int held = before;
    before = now;
    now = next;
    next = held;
    held = from;
    from = to;
    to = held;
  }
}
