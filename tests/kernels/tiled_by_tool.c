// A stencil as a polyhedral tool tiles and skews it: bounds with quotients that are rounded.
#include <math.h>
#define ceild(n, d) ceil(((double)(n)) / ((double)(d)))
#define floord(n, d) floor(((double)(n)) / ((double)(d)))
#define max(x, y) ((x) > (y) ? (x) : (y))
#define min(x, y) ((x) < (y) ? (x) : (y))
#define T 6
#define N 26
void tiled_by_tool(int a[N]) {
  int t1, t2, t, i;
  for (t1 = 0; t1 <= floord(T - 1, 4); t1++)
    for (t2 = t1; t2 <= min(floord(4 * t1 + N + 1, 8), floord(T + N - 3, 8)); t2++)
      for (t = max(4 * t1, ceild(8 * t2 - N + 2, 1)); t <= min(min(T - 1, 4 * t1 + 3), 8 * t2 + 6);
           t++)
        for (i = max(8 * t2, t + 1); i <= min(8 * t2 + 7, t + N - 2); i++)
          a[i - t] = (a[i - t - 1] + a[i - t] + a[i - t + 1]) / 3;
}
