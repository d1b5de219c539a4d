/* Spend a budget on the items in order. */
int spend(const unsigned char price[16], int budget, unsigned char bought[16])
{
  int i;
  for (i = 0; (i < 16) & (budget > 0); i++) {
    bought[i] = price[i] <= budget;
    budget -= price[i];
  }
  return i;
}
