/* The sieve of Eratosthenes: steps depend on the outer loop. */
int primes(_Bool composite[50])
{
  int count = 0;
  for (int i = 0; i < 50; i++)
    composite[i] = i < 2;
  for (int i = 2; i * i < 50; i++)
    if (!composite[i])
      for (int j = i * i; j < 50; j += i)
        composite[j] = 1;
  for (int i = 0; i < 50; i++)
    count += !composite[i];
  return count;
}
