/* A text is copied by the idiom of old, and a buffer filled as far as a number says. */
#include <assert.h>
#include <string.h>
struct message { unsigned char bytes[24]; unsigned short filled; };
void append(struct message *m, const unsigned char data[12], int length, char name[9])
{
  char given[9] = "rtl";
  given[3] = data[0] & 1 ? 'x' : 0;
  const char *from = given;
  char *to = name;
  while ((*to++ = *from++))
    ;
  assert(length >= 0 && length <= 8);
  m->filled &= 7;
  memcpy(&m->bytes[m->filled], data, length);
  m->filled += length;
  memset(&m->bytes[m->filled], 0x80, 24 - m->filled);
}
