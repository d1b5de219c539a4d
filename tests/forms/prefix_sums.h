#ifndef PREFIX_SUMS_H
#define PREFIX_SUMS_H

static void prefix_sums(ELEMENT x[SIZE])
{
  for (int i = 1; i < SIZE; i++)
    x[i] += x[i - 1];
}

void sums(const ELEMENT in[SIZE], ELEMENT out[SIZE])
{
  for (int i = 0; i < SIZE; i++)
    out[i] = in[i];
  prefix_sums(out);
}

#endif
