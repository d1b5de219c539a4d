/* The inner loop's period outgrows the outer one's first estimate. */
void inner_period_grows(short A[5][5]) {
  short t;
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < i; j++) {
      t = A[i][j];
      A[i][j] = A[j][i] * 3;
      A[j][i] = t;
    }
}
