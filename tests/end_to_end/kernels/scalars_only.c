int total;
int scalars_only(int x, short y) {
  int t = x * y;
  total += t;
  t = t - total;
  return t;
}
