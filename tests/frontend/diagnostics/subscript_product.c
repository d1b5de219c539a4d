void f(int a[64]) {
  for (int i = 0; i < 80; i++)
    for (int j = 0; j < 80; j++)
      a[i * j] += 1;
}
