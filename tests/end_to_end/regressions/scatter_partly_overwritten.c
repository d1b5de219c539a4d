/* Stores behind a scatter overwrite single elements of its array: what it left in others is seen. */
int split(int a[9], const unsigned char x[4], int b[4]) {
  int n = 0;
  for (int i = 0; i < 8; i++)
    if (a[i] <= a[8]) {
      int t = a[n];
      a[n++] = a[i];
      a[i] = t;
    }
  int t = a[n];
  a[n] = a[8];
  a[8] = t;
  b[x[0] & 3] = n;
  b[x[1] >> 6] = t;
  b[2] = 7;
  return n;
}
