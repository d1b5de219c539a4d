static void step(int *p, int s) { p[0] += s; }
void f(int a[4096]) {
  for (int s = 0; s < 40; s++)
    for (int k = 0; k < 40; k++) {
      int half = s * k;
      int position = half ^ (half / 2);
      step(&a[position], s);
    }
}
