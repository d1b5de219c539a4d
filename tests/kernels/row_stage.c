// Each row is scaled by a void function that gets the row as an array.
#define H 5
#define W 8
static void scale(int row[W], int factor) {
  for (int j = 0; j < W; j++)
    row[j] = row[j] * factor >> 2;
}
void row_stage(int a[H][W], int factor) {
  for (int i = 0; i < H; i++)
    scale(a[i], factor + i);
}
