/* A convolution of the longer signal with the shorter one */
#include <assert.h>
void convolve(const int *a, int na, const int *b, int nb, int y[47])
{
  const int *longer = a, *shorter = b;
  int nl = na, ns = nb;
  assert(na > 0 && na <= 24 && nb > 0 && nb <= 24);
  if (na < nb) {
    longer = b;
    shorter = a;
    nl = nb;
    ns = na;
  }
  for (int i = 0; i < 47; i++) {
    int sum = 0;
    for (int k = 0; k < 24; k++)
      if (k < ns && i - k >= 0 && i - k < nl)
        sum += longer[i - k] * shorter[k];
    y[i] = sum;
  }
}
