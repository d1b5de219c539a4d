// An indirect read of an argument, by another argument.
#define N 32
void gather(const int index[N], const long long b[32], long long y[N]) {
  for (int i = 0; i < N; i++)
    y[i] = b[index[i] & 31] - b[i];
}
