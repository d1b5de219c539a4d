/* Which of two functions is called is data. */
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
int apply(int a, int b, int which)
{
  int (*op)(int, int) = which ? add : sub;
  return op(a, b);
}
