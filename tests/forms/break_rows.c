/* Leading zeros of each row. */
void leading(const int m[4][8], int zeros[4])
{
  for (int i = 0; i < 4; i++) {
    int j = 0;
    for (; j < 8; j++)
      if (m[i][j])
        break;
    zeros[i] = j;
  }
}
