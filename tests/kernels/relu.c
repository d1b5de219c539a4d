// b = max(a, 0), as an if with else.
#define N 64
void relu(const signed char a[N], signed char b[N]) {
  for (int i = 0; i < N; i++)
    if (a[i] < 0)
      b[i] = 0;
    else
      b[i] = a[i];
}
