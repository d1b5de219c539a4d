// A 3 x 3 stencil on an image kept in one dimension.
#define ROWS 8
#define COLUMNS 9
void stencil2d(const int orig[ROWS * COLUMNS], int sol[ROWS * COLUMNS], const int filter[9]) {
  for (int r = 0; r < ROWS - 2; r++)
    for (int c = 0; c < COLUMNS - 2; c++) {
      int temp = 0;
      for (int k1 = 0; k1 < 3; k1++)
        for (int k2 = 0; k2 < 3; k2++) {
          int mul = filter[k1 * 3 + k2] * orig[(r + k1) * COLUMNS + c + k2];
          temp += mul;
        }
      sol[r * COLUMNS + c] = temp;
    }
}
