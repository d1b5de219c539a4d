void f(int a[8][8], int b[8], int n) {
#pragma scop
  b[0] = 0;
}
