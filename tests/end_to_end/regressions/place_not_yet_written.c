/* `a` is read at places from a RAM before anything is in them, where no iteration looks at what is read. */
enum { N = 8 };
void place_not_yet_written(const int x[N], int a[16], int o[N]) {
  for (int i = 0; i < N; i++) {
    int k = x[i] & 15;
    a[k] += i;
    for (int j = 0; j < N; j++) o[i] += a[k] * j;
  }
}
