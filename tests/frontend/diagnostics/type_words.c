void f(int char a[8], unsigned signed b[8], int short int c[8], long long long d[8],
       int long unsigned e[8]) {
  for (int i = 0; i < 8; i++) a[i] = b[i] + c[i] + d[i] + e[i];
}
