/* Rows of a picture or of its border */
void pad(const int picture[6][8], const int border[8], int y[8][8])
{
  for (int i = 0; i < 8; i++) {
    const int *row = i == 0 || i == 7 ? border : picture[i - 1];
    for (int j = 0; j < 8; j++)
      y[i][j] = row[j];
  }
}
