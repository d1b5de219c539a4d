void f(int a[64]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      a[i * j] += 1;
}
