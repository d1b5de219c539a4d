// Stores only where a mask says so; the rest keeps its value.
#define N 24
void masked_store(int a[N], const int b[N], const unsigned char mask[N], int n) {
  for (int i = 0; i < N; i++)
    if (mask[i] & 1 && b[i] != n) {
      a[i] = b[i];
      if (mask[i] & 2)
        a[i] += n;
    }
}
