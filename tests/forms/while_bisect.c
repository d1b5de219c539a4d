/* Binary search: each iteration halves what is left. */
int find(const int sorted[64], int key)
{
  int low = 0, high = 63;
  while (low <= high) {
    int middle = low + (high - low) / 2;
    if (sorted[middle] == key)
      return middle;
    if (sorted[middle] < key)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -1;
}
