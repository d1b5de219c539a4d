// Choices in choices, shadowed names, and a variable for every block.
#define N 24
void nested_choice(const int a[N], const int b[N], int c[N]) {
  int x = 17;
  for (int i = 0; i < N; i++) {
    int x = a[i];
    {
      int x = b[i];
      c[i] = x > 0 ? x > 1000 ? x - 1000 : -x : x == 0 ? 5 : ~x;
    }
    if (x & 1)
      c[i] += x;
    else if (x & 2)
      c[i] -= x;
    else {
      int t = x >> 2;
      c[i] = t * t;
    }
  }
  c[0] ^= x;
}
