struct point { int x; };
void f(int a[8], long double scale, char **names, struct point p, int (*each)(int)) {
  for (int i = 0; i < 8; i++) a[i] = scale;
}
