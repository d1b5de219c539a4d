void f(int a[8][8], int b[8], int n) {
  int i;
#pragma scop
  for (i = 0; i < 8; i++)
    b[i] = a[i][i] * n;
  b[0] = i;
#pragma endscop
  a[0][0] = i;
}
