void exits_joined_by_bits(int a[80]) {
  for (int i = 1; i < 9; i++)
    for (int j = 0; (j < i) & (j < 6); j++)
      a[9 * j + i] += i - j;
}
