void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < 8; i++) {
    if (i == 3) break;
    if (i == 4) continue;
    if (i == 5) goto end;
    if (i == 6) return;
    b[i] = 0;
  }
end:
  b[0] = 1;
}
