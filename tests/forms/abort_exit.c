/* exit() in a helper. */
#include <stdio.h>
#include <stdlib.h>
static int checked(int x)
{
  if (x > 1000000000) {
    fprintf(stderr, "too large\n");
    exit(1);
  }
  return x / 2;
}
void halve(const int x[8], int y[8])
{
  for (int i = 0; i < 8; i++)
    y[i] = checked(x[i]);
}
