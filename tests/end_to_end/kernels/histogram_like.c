void histogram_like(unsigned char h[1], unsigned char a[9]) {
  for (int i = 0; i < 9; i++)
    h[0] += a[i] * 3;
}
