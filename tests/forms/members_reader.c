// -D r_bytes_EXTENT=24
/* Numbers of 4 bits out of a stream of bytes: its type is named before it is defined. */
typedef struct reader reader;
struct backend;
struct reader {
  const unsigned char *bytes;
  struct backend *more;
  union { void *opaque; unsigned held; } window;
  unsigned place;
  int left;
};

static unsigned byte(reader *r) { return r->place < 24 ? r->bytes[r->place++] : 0; }

static int nibble(reader *r)
{
  if (r->left < 4) {
    r->window.held = r->window.held << 8 | byte(r);
    r->left += 8;
  }
  r->left -= 4;
  return r->window.held >> r->left & 15;
}

void unpack(reader *r, int y[12])
{
  r->place = 0;
  r->left = 0;
  for (int i = 0; i < 12; i++)
    y[i] = nibble(r);
}
