void f(int a[8]) {
  for (long i = 0; i < 1000000000000000; i++) a[0] += 1;
  for (int i = 0; i < 100000000; i++)
    for (int j = i; j < 100000000; j++) a[1] += j;
}
