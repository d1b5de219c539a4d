// -D in_w=6 -D in_h=5 -D filter_w=3 -D filter_h=2
/* Sizes and limits of a layer are handed over by address. */
#include <stdint.h>
typedef struct { int32_t w, h; } dims;
typedef struct { int32_t offset, shift; struct { int32_t min, max; } kept; } params;
void convolve(const params *p, const dims *in, const int8_t *x, const dims *filter,
              const int8_t *f, int8_t *y)
{
  const int width = in->w - filter->w + 1, height = in->h - filter->h + 1;
  for (int r = 0; r < height; r++)
    for (int c = 0; c < width; c++) {
      int32_t sum = 0;
      for (int i = 0; i < filter->h; i++)
        for (int j = 0; j < filter->w; j++)
          sum += (x[(r + i) * in->w + c + j] + p->offset) * f[i * filter->w + j];
      sum >>= p->shift & 15;
      sum = sum < p->kept.min ? p->kept.min : sum;
      y[r * width + c] = sum > p->kept.max ? p->kept.max : sum;
    }
}
