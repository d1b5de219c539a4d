// Rows of different lengths, packed: the place of a row moves by what the row takes.
#define N 5
void packed_rows(const int a[N][8], int packed[8 * N]) {
  int place = 0;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < 4; j++)
      packed[place + j] = a[i][j] + a[i][7 - j];
    place += 4;
    for (int j = 0; j < 4; j++, place++)
      packed[place] = a[i][j] - a[i][7 - j];
  }
}
