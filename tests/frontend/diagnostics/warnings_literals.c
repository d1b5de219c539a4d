static const int scale[2] = {1.0, 2};
static double unused(void) { return 3.0; }
int f(int a[8]) {
  int most = -1e3;
  for (int i = 0; i < 8; i++) a[i] = a[i] > most ? 1.0 : 0.0f;
  return (int)2.0 * scale[1];
}
