void prefix_sum(int a[16]) {
  for (int i = 1; i < 16; i++)
    a[i] += a[i - 1];
}
