void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < 8; i++) {
#pragma scop
    b[i] = 0;
#pragma endscop
  }
}
