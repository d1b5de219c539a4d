/* A window that slides by memmove. */
#include <string.h>
void slide(const int x[16], int y[16])
{
  int window[4] = {0};
  for (int i = 0; i < 16; i++) {
    memmove(window + 1, window, 3 * sizeof(int));
    window[0] = x[i];
    y[i] = window[0] - window[3];
  }
}
