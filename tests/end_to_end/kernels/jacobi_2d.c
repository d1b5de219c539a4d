void jacobi_2d(int A[7][6], int B[7][6]) {
  for (int t = 0; t < 2; t++) {
    for (int i = 1; i < 6; i++)
      for (int j = 1; j < 5; j++)
        B[i][j] = A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j];
    for (int i = 1; i < 6; i++)
      for (int j = 1; j < 5; j++)
        A[i][j] = B[i][j] - B[i][j - 1] + B[i][1 + j] - B[1 + i][j] + B[i - 1][j];
  }
}
