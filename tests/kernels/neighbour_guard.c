// A subscript that only data keeps inside of the array, and subscripts by products and quotients.
#define N 24
void neighbour_guard(const int a[N], const int b[N], int y[N], int z[N]) {
  for (int i = 0; i < N; i++) {
    y[i] = b[i] ^ i;
    if (a[i] > 1 << 30 && i < N - 1 && a[i + 1] > 0)
      y[i] = a[i] - a[i + 1];
    z[i] = b[i / 2] * 3 + b[i * i % N] + b[(i * 7 + 5) % N];
  }
}
