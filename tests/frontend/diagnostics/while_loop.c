void f(int a[8][8], int b[8], int n) {
  int i = 0;
  while (i < 8) {
    b[i] = 0;
    i++;
  }
  do { b[0]++; } while (b[0] < 3);
}
