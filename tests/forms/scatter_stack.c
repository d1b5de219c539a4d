/* Brackets are pushed, and popped where they close. */
int depth(const unsigned char x[40])
{
  unsigned char open[12] = {0};
  int top = 0, wrong = 0;
  for (int i = 0; i < 40; i++) {
    unsigned char c = x[i] & 3;
    if (c < 2) {
      if (top < 12)
        open[top++] = c;
    } else if (top > 0) {
      top--;
      wrong += open[top] != c - 2;
    }
  }
  return 100 * wrong + top;
}
