/* A message whose body is one of two. */
struct message {
  unsigned char kind;
  union { unsigned count; int delta; } body;
};
int apply(const struct message m[10], int start)
{
  int level = start;
  for (int i = 0; i < 10; i++)
    level = m[i].kind & 1 ? (int)(m[i].body.count & 0xff) : level + m[i].body.delta;
  return level;
}
