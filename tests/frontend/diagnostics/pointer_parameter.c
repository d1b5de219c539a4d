void f(int **a, int b[][], void *v) {
  int *p = b;
  for (int i = 0; i < 8; i++)
    p[i] = b[i] + a[0][i] + v[i];
}
