void jacobi_1d(int A[12], int B[12]) {
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < 11; i++)
      B[i] = 3 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < 11; i++)
      A[i] = 5 * (B[i - 1] + B[i] + B[i + 1]);
  }
}
