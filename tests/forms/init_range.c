/* A table of character classes, filled by ranges. */
enum { OTHER, DIGIT, LETTER };
static const unsigned char class_of[128] = {
  ['0' ... '9'] = DIGIT,
  ['a' ... 'z'] = LETTER,
  ['A' ... 'Z'] = LETTER,
};
void count(const char text[32], int found[3])
{
  int counts[3] = {[OTHER ... LETTER] = 0};
  for (int i = 0; i < 32; i++)
    counts[class_of[text[i] & 127]]++;
  for (int k = 0; k < 3; k++)
    found[k] = counts[k];
}
