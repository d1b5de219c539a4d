void f(int a[8][8], int b[8], int n) {
  for (;;) b[0] = 1;
  for (int i = 0, j = i; i < 8; i++) b[i] = j;
  for (int i = 0; i < 8 && i < n; i++) b[i] = 0;
  for (int i = 1; i < 8; i *= n) b[i] = 0;
  for (int i = 0; i < 8; i += n) b[i] = 0;
  for (int i = 0; 3 < 8; i++) b[i] = 0;
  for (n = 0; n < 8; n++) b[n] = 0;
}
