/* A permutation is undone: where each word goes stands in another array. */
void scatter(const int order[50], const short word[50], short out[50])
{
  for (int i = 0; i < 50; i++)
    out[order[i] - 1] = word[i];
}
