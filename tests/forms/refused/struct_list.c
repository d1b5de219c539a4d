/* A list of pointers. */
struct node { int value; struct node *next; };
int sum(const struct node *list)
{
  int total = 0;
  for (const struct node *n = list; n; n = n->next)
    total += n->value;
  return total;
}
