/* Binary search in a sorted table. */
int search(const short table[64], short key)
{
  int low = 0, high = 63;
#pragma rtlgen bound 7
  while (low <= high) {
    int mid = (low + high) / 2;
    if (table[mid & 63] == key)
      return mid;
    if (table[mid & 63] < key)
      low = mid + 1;
    else
      high = mid - 1;
  }
  return -1;
}
