void distance_two(int a[16], int b[16]) {
  for (int i = 2; i < 16; i++)
    a[i] = a[i - 2] * b[i] - 3;
}
