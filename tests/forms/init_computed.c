/* Initial values that are computed. */
int mix(int a, int b, const int x[6])
{
  int k[6] = {a, b, a + b, a - b, a ^ b, 1};
  int sum = 0;
  for (int i = 0; i < 6; i++)
    sum += k[i] * x[i];
  return sum;
}
