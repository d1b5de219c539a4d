const int deep[2][2] = {1, 2, 3, 4, 5};
const int many[2] = {1, 2, 3};
const int large[70000] = {1};
const int named[2] = {[2] = 3};
int counted = {3, 4};
void f(int a[8]) {
  static int kept[2] = {1, a[2]};
  int t[2][2] = {1, {.x = a[0]}};
  int s = {{3}};
  a[0] = kept[1] + t[0][0] + s + deep[0][0] + many[0] + large[0] + named[0];
  a[2] = deep[0][0];
  a[3] = many[0];
  a[4] = large[0];
  a[5] = named[0];
  counted += a[6];
  a[7] = counted;
}
