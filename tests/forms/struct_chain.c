/* A list whose links are numbers of fields. */
struct node { short value; unsigned char next; };
int sum(const struct node list[16], unsigned char first)
{
  int total = 0, at = first & 15;
  for (int steps = 0; steps < 16; steps++) {
    total += list[at].value;
    int next = list[at].next;
    if (next >= 16)
      break;
    at = next;
  }
  return total;
}
