/* S1 runs from the second iteration of i on: its place in the loop is not that of its own box. */
void box_of_one_statement(int L[4][4], int x[4], int b[4]) {
  for (int i = 0; i < 4; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] * L[i][i];
  }
}
