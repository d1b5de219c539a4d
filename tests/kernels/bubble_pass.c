// One pass of compare and exchange.
#define N 14
void bubble_pass(int a[N]) {
  for (int i = 0; i < N - 1; i++)
    if (a[i] > a[i + 1]) {
      int t = a[i];
      a[i] = a[i + 1];
      a[i + 1] = t;
    }
}
