/* The loop of the book. */
void copy(const char *from, char *to)
{
  int n = 24;
  while (n-- > 0 && (*to++ = *from++) != 0)
    ;
}
