/* Shell sort: gaps are halved, and elements move by a gap as long as a smaller one is there. */
void shell_sort(int a[8])
{
  for (int gap = 4; gap > 0; gap /= 2)
    for (int i = gap; i < 8; i++) {
      int moved = a[i], j;
      for (j = i; j >= gap && a[j - gap] > moved; j -= gap)
        a[j] = a[j - gap];
      a[j] = moved;
    }
}
