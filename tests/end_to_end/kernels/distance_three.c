void distance_three(long a[16], long b[16]) {
  for (int i = 3; i < 16; i++)
    a[i] = a[i - 3] * b[i] - a[i - 1];
}
