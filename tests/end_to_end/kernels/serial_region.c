int serial_region(int A[48], int B[8]) {
  int sum = 0;
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 6; j++)
      sum += A[i * 6 + j];
    sum += B[i];
  }
  return sum;
}
