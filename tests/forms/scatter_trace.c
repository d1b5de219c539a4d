/* The longest common subsequence, traced back. */
int trace(const char a[8], const char b[8], char out[8]) {
  int c[9][9];
  for (int i = 0; i <= 8; i++) for (int j = 0; j <= 8; j++) {
    if (i == 0 || j == 0) c[i][j] = 0;
    else if (a[i-1] == b[j-1]) c[i][j] = c[i-1][j-1] + 1;
    else c[i][j] = c[i-1][j] > c[i][j-1] ? c[i-1][j] : c[i][j-1];
  }
  int i = 8, j = 8, k = 0;
  while (i > 0 && j > 0) {
    if (a[i-1] == b[j-1]) { out[k++] = a[i-1]; i--; j--; }
    else if (c[i-1][j] >= c[i][j-1]) i--;
    else j--;
  }
  return k;
}
