/* memset and memcpy of whole structures and rows. */
#include <string.h>
void blank(unsigned char screen[4][10], const unsigned char line[10])
{
  memset(screen, ' ', sizeof(unsigned char[4][10]));
  memcpy(screen[1], line, 10);
  memcpy(screen[3], screen[1], sizeof screen[3]);
}
