// The number of edits between two words, with weights; calls inside calls.
#define N 6
static int min2(int a, int b) { return a < b ? a : b; }
static int min3(int a, int b, int c) { return min2(a, min2(b, c)); }
void edit_distance(const char s[N], const char t[N], const unsigned char price[3],
                   int d[N + 1][N + 1]) {
  for (int i = 0; i <= N; i++)
    d[i][0] = i * price[0];
  for (int j = 1; j <= N; j++)
    d[0][j] = j * price[1];
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++)
      d[i][j] = min3(d[i - 1][j] + price[0], d[i][j - 1] + price[1],
                     d[i - 1][j - 1] + (s[i - 1] == t[j - 1] ? 0 : price[2]));
}
