void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < b[0]; i++)
    b[1] += 2;
}
