// Least and greatest of each row, given back through pointers.
#define H 6
#define W 7
static void span(const int row[W], int *low, int *high) {
  *low = row[0];
  *high = row[0];
  for (int j = 1; j < W; j++) {
    if (row[j] < *low) *low = row[j];
    if (row[j] > *high) *high = row[j];
  }
}
void span_of(const int a[H][W], int low[H], int high[H]) {
  for (int i = 0; i < H; i++)
    span(a[i], &low[i], high + i);
}
