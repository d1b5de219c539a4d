// -D a_rows=3 -D a_columns=4 -D b_columns=5
/* A product of matrices that are given as their sizes and a pointer */
typedef struct {
  unsigned short rows, columns;
  int *data;
} matrix;
int product(const matrix *a, const matrix *b, matrix *y)
{
  int *out = y->data;
  if (!a || a->columns == 0)
    return -1;
  for (int i = 0; i < a->rows; i++) {
    const int *row = a->data + i * a->columns;
    for (int j = 0; j < b->columns; j++) {
      int sum = 0;
      for (int k = 0; k < a->columns; k++)
        sum += row[k] * b->data[k * b->columns + j];
      *out++ = sum;
    }
  }
  return 0;
}
