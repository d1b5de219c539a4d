void f(int a[8], int n) {
#pragma rtlgen bound n
  while (a[0] > n) a[0] /= 2;
}
