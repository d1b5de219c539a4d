static int seed = 12345;
int zero = 0, table[3] = {1, 2, 3};
void f(int a[8]) {
  static short last[2] = {1, -1};
  for (int i = 0; i < 8; i++) {
    seed = seed * 5 + 1;
    zero += seed ^ last[i & 1];
    last[0] = zero;
    a[i] = zero + table[i % 3];
  }
}
