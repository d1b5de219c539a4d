void f(int a[8][8], int b[8], int n) {
  switch (n) {
    case 1: for (int i = 0; i < 8; i++) { b[i] = 1; case 2: b[i] = 2; }
  }
}
