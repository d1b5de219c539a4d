#define LAST(k) (k) * (k)
void f(int a[8][8], int b[8], int n) {
  for (int i = 0; i < 80; i++)
    for (int j = 0; j < LAST(i); j++)
      a[i][0] += 1;
}
