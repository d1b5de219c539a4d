/* The state of a filter, with members that are for others: a function, a file, a list. */
#include <stdio.h>
struct listener;
typedef struct filter {
  int order;
  void (*report)(struct filter *, int);
  FILE *log;
  struct listener *first;
  void *user;
  short taps[4], delayed[4];
  long double exact;
} filter;

static int step(filter *f, int x)
{
  int sum = 0;
  for (int k = 3; k > 0; k--)
    f->delayed[k] = f->delayed[k - 1];
  f->delayed[0] = x;
  for (int k = 0; k < 4; k++)
    sum += f->taps[k] * f->delayed[k];
  return sum;
}

void run(filter *f, const short x[16], int y[16])
{
  filter before = *f;
  for (int i = 0; i < 16; i++) {
    y[i] = step(f, x[i]);
    y[i] += f->order;
    y[i] -= step(&before, x[15 - i]);
  }
}
