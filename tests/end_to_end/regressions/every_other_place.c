/* Of the first statement only every other value need be stored, but all are: a store has no modulus
   in its condition. */
void every_other_place(int a[4][6], int x[4][12]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++)
      x[i][j] = a[i][j];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++)
      x[i][j + 6] = a[3 - i][j] * 3;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 3; j++)
      x[i][2 * j] += a[i][j];
}
