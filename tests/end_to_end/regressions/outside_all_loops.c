/* Statements without iterators between others. */
int outside_all_loops(int a[1], int b[4]) {
  int s = 0;
  a[0] = a[0] * a[0] + 1;
  for (int i = 0; i < 4; i++)
    s += b[i] - a[0];
  return s;
}
