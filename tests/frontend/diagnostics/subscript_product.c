static void step(int *p) { p[0] += 1; }
void f(int a[64]) {
  for (int i = 0; i < 80; i++)
    for (int j = 0; j < 80; j++)
      step(&a[i * j]);
}
