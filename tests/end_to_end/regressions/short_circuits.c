int short_circuits(const int a[8], int b[8])
{
  int hits = 0;
  for (int i = 0; i < 8; i++) {
    if (i < 7 && a[i + 1] > a[i])
      hits++;
    if (i == 0 || a[i - 1] & 1)
      b[i] += i > 1 ? a[i - 2] : -1;
    hits += i && !(a[i] > 0 && i < 5);
  }
  return hits;
}
