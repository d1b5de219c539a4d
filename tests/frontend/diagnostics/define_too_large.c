// -D n=300
void f(unsigned char n, int a[8]) {
  for (int i = 0; i < n; i++) a[i] = 0;
}
