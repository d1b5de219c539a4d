// -D N=9 -D M=3
#define N 8
void f(int a[N], int unused[4], int k) {
  int spare[N];
  a[0] = 2;
#pragma scop
  for (int i = 8; i < N; i++)
    a[i] = 1;
  for (int i = 0; i < N; i++) {
    if (i > 9) a[i] = 3;
    a[i] += 1;
    if (a[i] < 0) a[i + 1] = 4;
  }
#pragma endscop
}
