/* A pointer in the caller's structure is moved. */
struct reader { const unsigned char *at; };
static int byte(struct reader *r) { return *r->at++; }
int first(const unsigned char text[8])
{
  struct reader r = {text};
  return byte(&r) + byte(&r);
}
