void f(float x[8], float y[8]) {
  for (int i = 0; i < 8; i++) y[i] = x[i] * 0.1 + x[i] / 2.0;
  for (int i = 0; i < 8; i++) x[i] = 0.5 * x[i];
}
