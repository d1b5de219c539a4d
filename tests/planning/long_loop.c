/* A single loop with more iterations than a memory on chip holds elements of a temporary. */
void long_loop(const int x[20000], int y[20000])
{
  for (int i = 0; i < 20000; i++) {
    int t = x[i] * 3;
    int u = t * t;
    int v = u / 7;
    y[i] = v + t;
  }
}
