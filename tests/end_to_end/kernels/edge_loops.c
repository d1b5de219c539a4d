void edge_loops(int a[1], int b[4]) {
  for (int i = 0; i < 0; i++)
    b[i] = 9;
  for (int i = 2; i < 3; i++)
    b[i] = a[0] * 0 + 5;
  a[0] = a[0] + a[0] * a[0];
  for (int i = 0; i < 4; i++)
    b[i] -= a[0];
}
