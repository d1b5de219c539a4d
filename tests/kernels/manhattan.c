// Sum of absolute differences.
#define N 24
int abs(int);
unsigned manhattan(const unsigned char a[N], const unsigned char b[N]) {
  unsigned sum = 0;
  for (int i = 0; i < N; i++)
    sum += abs(a[i] - b[i]);
  return sum;
}
