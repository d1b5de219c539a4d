#define MAX(x, y) ((x) > (y) ? (x) : (y))
void f(int a[8]) {
  a[0] = MAX(1);
}
