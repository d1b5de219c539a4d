void f(int a[1000], int b[1000]) {
  for (int i = 0; i < 1000; i++)
    for (int j = 0; j < i % 20; j++)
      a[i] += b[j];
}
