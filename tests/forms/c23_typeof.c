/* MAX() without a double evaluation. */
#define SWAP(a, b) do { typeof(a) held = (a); (a) = (b); (b) = held; } while (0)
void order(long x[6])
{
  for (int i = 0; i < 5; i++)
    if (x[i] > x[i + 1])
      SWAP(x[i], x[i + 1]);
}
