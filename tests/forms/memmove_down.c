/* Delete an element. */
#include <string.h>
void delete(int list[10])
{
  memmove(&list[2], &list[3], sizeof(int) * 7);
  list[9] = 0;
}
