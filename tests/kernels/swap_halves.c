// The halves of a table change places, by a function that swaps.
#define N 24
static void swap(int *x, int *y) {
  int t = *x;
  *x = *y;
  *y = t;
}
void swap_halves(int a[N]) {
  for (int i = 0; i < N / 2; i++)
    swap(&a[i], a + i + N / 2);
}
