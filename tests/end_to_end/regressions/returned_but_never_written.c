/* The result is a global that no statement touches. */
int s;
int returned_but_never_written(int a[3], unsigned char q) {
  for (int i = 0; i < 3; i++)
    a[i] *= q;
  return s;
}
