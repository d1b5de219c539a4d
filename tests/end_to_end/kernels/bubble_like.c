void bubble_like(int a[8]) {
  int lo, hi;
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7 - i; j++) {
      lo = a[j] < a[j + 1] ? a[j] : a[j + 1];
      hi = a[j] < a[j + 1] ? a[j + 1] : a[j];
      a[j] = lo;
      a[j + 1] = hi;
    }
}
