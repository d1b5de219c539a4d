int f(const int a[64], int n, int key) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i];
  for (int i = 0; i < 64; i++) {
    if (a[i] == key)
      break;
    sum -= a[i];
  }
  return sum;
}
