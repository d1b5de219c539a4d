/* A small machine, with a table of functions for its operations. */
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static int (*const operations[])(int, int) = {add, sub, mul};
static void each(int *a, int n, int (*f)(int, int))
{
  for (int i = 0; i < n; i++)
    a[i] = f(a[i], i);
}
int run(const unsigned char code[16], int last[8])
{
  int sum = 0;
  for (int i = 0; i < 16; i++)
    sum = operations[code[i] % 3](sum, code[i] >> 2);
  each(last, 8, sub);
  each(last, 8, &mul);
  return sum;
}
