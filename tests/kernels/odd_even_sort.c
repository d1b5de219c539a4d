// Sorting by passes over odd and even pairs.
#define N 8
void odd_even_sort(short a[N]) {
  for (int pass = 0; pass < N / 2; pass++) {
    for (int i = 0; i + 1 < N; i += 2)
      if (a[i] > a[i + 1]) {
        short t = a[i];
        a[i] = a[i + 1];
        a[i + 1] = t;
      }
    for (int i = 1; i + 1 < N; i += 2)
      if (a[i] > a[i + 1]) {
        short t = a[i];
        a[i] = a[i + 1];
        a[i + 1] = t;
      }
  }
}
