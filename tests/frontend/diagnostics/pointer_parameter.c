void f(int *a, int b[], int n) {
  for (int i = 0; i < 8; i++)
    a[i] = b[i];
}
