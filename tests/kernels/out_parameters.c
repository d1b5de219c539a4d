// Results through pointers to single variables.
#define N 24
static void both(const int *x, int *low, int *high) {
  *low = *high = x[0];
  for (int i = 1; i < N; i++) {
    if (x[i] < *low)
      *low = x[i];
    if (x[i] > *high)
      *high = x[i];
  }
}
void out_parameters(const int x[N], int y[N], int *range) {
  int low, high;
  both(x, &low, &high);
  *range = high - low;
  for (int i = 0; i < N; i++)
    y[i] = (x[i] >> 1) - (low >> 1);
}
