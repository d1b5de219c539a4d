void wide_mix(unsigned long a[6], signed char b[6], unsigned short c[6]) {
  for (int i = 0; i < 6; i++)
    a[i] = a[i] * (unsigned long)b[i] + (c[i] << 3) - (b[i] >> 1) % 7;
  for (int i = 5; i >= 1; i--)
    c[i] ^= a[i - 1] >> 40;
}
