/* Passes of a sort by digits: two buffers change places, and half of the loops run in turns. */
void turns(int a[64], int b[64])
{
  int in_b = 0;
  for (int shift = 0; shift < 32; shift += 2) {
    int count[4] = {0, 0, 0, 0}, begin = 0;
    if (in_b) for (int i = 0; i < 64; i++) count[(b[i] >> shift) & 3]++;
    else for (int i = 0; i < 64; i++) count[(a[i] >> shift) & 3]++;
    for (int d = 0; d < 4; d++) {
      int n = count[d];
      count[d] = begin;
      begin += n;
    }
    if (in_b) for (int i = 0; i < 64; i++) a[count[(b[i] >> shift) & 3]++ & 63] = b[i];
    else for (int i = 0; i < 64; i++) b[count[(a[i] >> shift) & 3]++ & 63] = a[i];
    in_b = !in_b;
  }
}
