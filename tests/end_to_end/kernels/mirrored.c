/* An image is brightened, turned upside down, and read from right to left by a sum of neighbours. */
void mirrored(const int in[12][10], int scaled[12][10], int turned[12][10], int out[12][10])
{
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 10; j++)
      scaled[i][j] = in[i][j] * 5 - i;
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 10; j++)
      turned[i][j] = scaled[11 - i][j] + j;
  for (int i = 0; i < 12; i++)
    for (int j = 1; j < 10; j++)
      out[i][j] = turned[i][9 - j] + turned[i][10 - j];
}
