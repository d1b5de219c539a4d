/* A pointer that walks through one array and then through the next */
int chain(const int first[10], const int second[14])
{
  const int *p = first, *end = first + 10;
  int hash = 7;
  for (int k = 0; k < 24; k++) {
    hash = hash * 31 + *p++;
    if (p == end && k < 20) {
      p = second;
      end = second + 14;
    }
  }
  return hash;
}
