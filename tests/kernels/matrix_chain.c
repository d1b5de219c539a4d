// The cheapest bracketing of a product of matrices: triangular, from the bottom up.
#define N 7
static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }
void matrix_chain(const unsigned short size[N + 1], unsigned cost[N][N]) {
  for (int i = N - 1; i >= 0; i--) {
    cost[i][i] = 0;
    for (int j = i + 1; j < N; j++) {
      cost[i][j] = 0xffffffffu;
      for (int k = i; k < j; k++)
        cost[i][j] = least(cost[i][j],
                           cost[i][k] + cost[k + 1][j] + size[i] * size[k + 1] * size[j + 1]);
    }
  }
}
