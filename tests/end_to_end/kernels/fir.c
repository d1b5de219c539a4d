void fir(short x[20], short h[4], int y[20]) {
  for (int n = 3; n < 20; n++) {
    y[n] = 0;
    for (int k = 0; k < 4; k++)
      y[n] += x[n - k] * h[k];
  }
}
