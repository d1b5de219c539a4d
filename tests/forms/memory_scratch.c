// -D n=16
/* A histogram and a sorted copy in memory that is asked for, and given back. */
#include <stdlib.h>
typedef struct { int least, most; } span;

int kernel(int n, const short x[16], short sorted[16])
{
  short *copy;
  int *bins = (int *)calloc(8, sizeof(int));
  span *ends = malloc(sizeof *ends);
  copy = malloc(n * sizeof *copy);
  if (!bins || copy == NULL)
    return -1;
  for (int i = 0; i < n; i++) {
    copy[i] = x[i];
    bins[x[i] & 7]++;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n - 1 - i; j++)
      if (copy[j] > copy[j + 1]) {
        short kept = copy[j];
        copy[j] = copy[j + 1];
        copy[j + 1] = kept;
      }
  ends->least = ends->most = bins[0];
  for (int k = 1; k < 8; k++) {
    ends->least = bins[k] < ends->least ? bins[k] : ends->least;
    ends->most = bins[k] > ends->most ? bins[k] : ends->most;
  }
  for (int i = 0; i < n; i++)
    sorted[i] = copy[i];
  int range = ends->most - ends->least;
  free(bins);
  free(copy);
  free(ends);
  return range;
}
