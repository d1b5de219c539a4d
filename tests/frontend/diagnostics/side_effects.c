void f(int a[8][8], int b[8], int n) {
  b[0] = 1 + (b[1] = 2);
  b[2] = b[2]++ + 1;
  b[b[3]--] = 2;
}
