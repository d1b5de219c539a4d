/* The bytes of a word, by their order in memory. */
union word { unsigned all; unsigned char byte[4]; };
unsigned swap(unsigned x)
{
  union word w;
  w.all = x;
  unsigned char low = w.byte[0];
  w.byte[0] = w.byte[3];
  w.byte[3] = low;
  return w.all;
}
