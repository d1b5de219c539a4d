/* A histogram that starts anew for each row. */
void levels(const unsigned char image[4][12], unsigned char most[4])
{
  for (int y = 0; y < 4; y++) {
    int count[4] = {0};
    for (int x = 0; x < 12; x++)
      for (int level = 0; level < 4; level++)
        count[level] += (image[y][x] >> 6) == level;
    most[y] = 0;
    for (int level = 1; level < 4; level++)
      if (count[level] > count[most[y]])
        most[y] = level;
  }
}
