/* strnlen */
#include <stddef.h>
size_t length(const char s[40])
{
  size_t n;
  for (n = 0; n < 40 && s[n] != '\0'; n++)
    ;
  return n;
}
