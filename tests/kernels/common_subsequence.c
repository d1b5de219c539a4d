// Length of the longest common subsequence, by dynamic programming.
#define N 8
int common_subsequence(const unsigned char a[N], const unsigned char b[N]) {
  int length[N + 1][N + 1];
  for (int i = 0; i <= N; i++) {
    length[i][0] = 0;
    length[0][i] = 0;
  }
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++) {
      int up = length[i - 1][j], left = length[i][j - 1];
      if ((a[i - 1] & 3) == (b[j - 1] & 3))
        length[i][j] = length[i - 1][j - 1] + 1;
      else
        length[i][j] = up > left ? up : left;
    }
  return length[N][N];
}
