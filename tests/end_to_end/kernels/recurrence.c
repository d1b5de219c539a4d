void recurrence(int a[16], int b[16]) {
  for (int i = 1; i < 16; i++)
    a[i] = a[i - 1] * b[i] + 1;
}
