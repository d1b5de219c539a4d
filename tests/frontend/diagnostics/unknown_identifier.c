void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < N; i++)
    b[i] = c[i] + alpha;
}
