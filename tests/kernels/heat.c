// Two buffers of an explicit heat step, several steps.
#define N 16
#define STEPS 4
void heat(int a[N], int b[N]) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      b[i] = (a[i - 1] + 2 * a[i] + a[i + 1]) >> 2;
    for (int i = 1; i < N - 1; i++)
      a[i] = b[i];
  }
}
