void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < 8; i--) b[i] = 0;
  for (int i = 0; i != 8; i += 3) b[i] = 0;
  for (int i = 9; i != 8; i++) b[i] = 0;
  for (int i = 0; i < 8; i += 0) b[i] = 0;
}
