static void clear(int *p) { p[0] = 0; }
void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      clear(&a[i][b[j]]);
}
