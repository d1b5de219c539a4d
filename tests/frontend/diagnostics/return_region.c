int f(int a[8]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    if (a[i] == 7) return 1;
    a[i] += 1;
  }
#pragma endscop
  return a[0];
}
