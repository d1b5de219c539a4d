void reversal(int a[9], int b[9]) {
  for (int i = 8; i >= 0; i--)
    b[8 - i] = a[i];
  for (int i = 8; i > 0; i -= 2)
    a[i] = b[i] + b[i - 1];
}
