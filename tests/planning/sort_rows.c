/* Bubble sort of short rows: many statements, each as deep as the others, in a cycle. */
void sort_rows(short a[1200][9])
{
  for (int r = 0; r < 1200; r++)
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8 - i; j++) {
        int x = a[r][j], y = a[r][j + 1];
        int low = x < y ? x : y, high = x < y ? y : x;
        a[r][j] = low;
        a[r][j + 1] = high;
      }
}
