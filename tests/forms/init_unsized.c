/* Arrays that are as long as what is in them. */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
static const int primes[] = {2, 3, 5, 7, 11, 13};
int residues(unsigned x)
{
  int sum = 0;
  for (unsigned i = 0; i < COUNT(primes); i++)
    sum = sum * 16 + x % primes[i];
  return sum;
}
