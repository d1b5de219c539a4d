/* An array of structures with pointers. */
struct slice { const int *first; int count; };
int total(const struct slice slices[4])
{
  int sum = 0;
  for (int i = 0; i < 4; i++)
    sum += slices[i].first[0];
  return sum;
}
