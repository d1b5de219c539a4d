// Rows cut in two where the diagonal meets column 3; the second loop goes on where the first ended.
#define N 12

int split_rows(int a[N][N], const int b[N], int cut[N])
{
  int i, j, total = 0;
  for (i = 0; i < N; i++) {
    for (j = 3; j < i; j++)
      a[i][j] += b[j];
    cut[i] = 100 * j + i;
    total += j * j;
    for (; j < N; j++)
      a[i][j] -= 3 * b[i];
  }
  return total + i;
}
