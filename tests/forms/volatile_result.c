/* A result that must not be optimised away. */
int benchmark(const volatile int x[16])
{
  volatile int sum = 0;
  for (int i = 0; i < 16; i++)
    sum += x[i];
  return sum;
}
