/* Words are looked up in a text, by functions of <string.h>. */
#include <string.h>
int look_up(const char line[16], const char words[3][4], const unsigned char tag[4], int *at)
{
  char text[17];
  for (int i = 0; i < 16; i++)
    text[i] = (line[i] & 3) + 'a';
  text[12] = text[16] = 0;
  int found = -1;
  for (int w = 0; w < 3; w++)
    if (strncmp(text, words[w], 4) == 0 && found < 0)
      found = w;
  const char *first = strchr(text, 'c');
  *at = first ? (int)(first - text) : -1;
  if (memcmp(tag, "\1\2\3\4", 4) == 0)
    found = 3;
  return (int)strlen(text) * 16 + found;
}
