/* A pointer that walks over structures. */
struct item { int weight; unsigned char count; };
int load(const struct item *items)
{
  int sum = 0;
  for (const struct item *p = items; p != items + 8; ++p)
    sum += p->weight * p->count;
  return sum;
}
