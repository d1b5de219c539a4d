// A Gauss-Seidel sweep after skewing: bounds that move with the time step.
#define T 4
#define N 22
void skewed(int a[N]) {
  for (int t = 0; t < T; t++)
    for (int i = t + 1; i < t + N - 1; i++)
      a[i - t] = (a[i - t - 1] + a[i - t] + a[i - t + 1]) / 3;
}
