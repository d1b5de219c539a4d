void f(int a[8][8], int b[8], int n) {
again:
  b[0]++;
  if (b[0] < 3) goto again;
  for (int i = 0; i < 8; i++) {
    if (a[i][0]) goto inside;
    b[i] = 0;
  }
  for (int i = 0; i < 8; i++) {
  inside:
    b[i] = 1;
  }
  break;
}
