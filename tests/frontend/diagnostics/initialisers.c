int table[4] = {1, 2, 3, 4};
int seed = 7;
void f(int a[8]) {
  int t[2] = {1, 2};
  int s = {3};
  a[0] = table[1] + seed + t[0] + s;
}
