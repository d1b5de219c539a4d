/* Which of the two is called first, C leaves open. */
static int next(int *s) { *s = *s * 5 + 1; return *s; }
int difference(int seed)
{
  return next(&seed) - next(&seed);
}
