/* An assertion that does something. */
#include <assert.h>
int last(const int a[8])
{
  int i = 0;
  assert(a[i++] >= 0);
  return a[i];
}
