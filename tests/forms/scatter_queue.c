/* Breadth first: what is reached is put into a queue, once. */
void distances(const unsigned char next[16][3], unsigned char far[16])
{
  unsigned char queue[16];
  int head = 0, tail = 1;
  for (int i = 0; i < 16; i++)
    far[i] = 255;
  far[0] = 0;
  queue[0] = 0;
  while (head < tail && head < 16) {
    unsigned char at = queue[head++] & 15;
    for (int e = 0; e < 3; e++) {
      unsigned char to = next[at][e] & 15;
      if (far[to] == 255 && tail < 16) {
        far[to] = far[at] + 1;
        queue[tail++] = to;
      }
    }
  }
}
