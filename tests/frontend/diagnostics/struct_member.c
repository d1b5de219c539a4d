struct point { int x, y; };
void f(struct point p[8], int a[8]) {
  a[0] = p[0].x;
}
