// -D n=big
void f(int n, int a[8]) {
  for (int i = 0; i < n; i++) a[i] = 0;
}
