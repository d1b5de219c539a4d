/* Slices of arrays as structures: initialised, assigned whole, handed over in both ways */
struct slice {
  const int *first;
  int count;
};
static int sum(struct slice s)
{
  int total = 0;
  for (int i = 0; i < 8; i++)
    if (i < s.count)
      total += *s.first++;
  return total;
}
static int most(const struct slice *s)
{
  int found = s->first[0];
  for (int i = 1; i < 8; i++)
    if (i < s->count && s->first[i] > found)
      found = s->first[i];
  return found;
}
int compare(const int a[16], const int b[16], int n)
{
  struct slice left = {a, 8}, right = {.count = 5, .first = &b[3]}, better;
  better = sum(left) > sum(right) ? left : right;
  if (n & 1) {
    better.first = a + 8;
    better.count = 4;
  }
  return most(&better) + most(n & 2 ? &left : &right);
}
