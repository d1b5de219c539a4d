/* The inner loop is empty for the first four rows. Built, each row has two iterations at least, and the last
   statement of a row runs in the larger of two. */
void empty_rows(unsigned a[12][12], unsigned y[12]) {
  unsigned x;
  for (int i = 0; i < 12; i++) {
    x = i;
    for (int j = 3; j < i; j++)
      x = x ^ a[i][j];
    y[i] = x ^ 5;
  }
}
