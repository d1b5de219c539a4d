// Product of matrices kept in one dimension, block by block; rows are affine temporaries.
#define N 8
#define BLOCK 4
void gemm_blocked(const int a[N * N], const int b[N * N], int prod[N * N]) {
  int i, k, j, jj, kk;
  int i_row, k_row;
  int temp, mul;
over_columns:
  for (jj = 0; jj < N; jj += BLOCK)
    for (kk = 0; kk < N; kk += BLOCK)
      for (i = 0; i < N; ++i)
        for (k = 0; k < BLOCK; ++k) {
          i_row = i * N;
          k_row = (k + kk) * N;
          temp = a[i_row + k + kk];
          for (j = 0; j < BLOCK; ++j) {
            mul = temp * b[k_row + j + jj];
            prod[i_row + j + jj] += mul;
          }
        }
}
