void f(int a[1000], int b[1000]) {
  for (int i = 0; i < 1000; i++)
    for (int j = 0; j < i / 2 * 2 % 100 + i; j++)
      a[i] += 1;
}
