void f(unsigned a[4][6], unsigned b[4][6], unsigned c[4][6], unsigned out[4]) {
  unsigned s = 1, t, u;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 6; j++) { t = s / (a[i][j] | 1); s = t + i; }
    for (int j = 0; j < 6; j++) { t = s * b[i][j]; u = t * t; s = u + 1; }
    for (int j = 0; j < 6; j++) { u = s ^ c[i][j]; s = u + j; }
    out[i] = s;
  }
}
