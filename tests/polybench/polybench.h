/* The macros of the benchmark suite that its kernels are written in, at the smallest sizes. */
#ifndef POLYBENCH_H
#define POLYBENCH_H
#include <math.h>

#if !defined(DATA_TYPE_IS_INT) && !defined(DATA_TYPE_IS_FLOAT) && !defined(DATA_TYPE_IS_DOUBLE)
#define DATA_TYPE_IS_DOUBLE
#endif

#ifdef DATA_TYPE_IS_INT
#define DATA_TYPE int
#define SCALAR_VAL(x) x
#define SQRT_FUN(x) x
#define EXP_FUN(x) x
#define POW_FUN(x, y) x
#endif
#ifdef DATA_TYPE_IS_FLOAT
#define DATA_TYPE float
#define SCALAR_VAL(x) x##f
#define SQRT_FUN(x) sqrtf(x)
#define EXP_FUN(x) expf(x)
#define POW_FUN(x, y) powf(x, y)
#endif
#ifdef DATA_TYPE_IS_DOUBLE
#define DATA_TYPE double
#define SCALAR_VAL(x) x
#define SQRT_FUN(x) sqrt(x)
#define EXP_FUN(x) exp(x)
#define POW_FUN(x, y) pow(x, y)
#endif

#define POLYBENCH_1D(a, n, m) a[n]
#define POLYBENCH_2D(a, n1, n2, m1, m2) a[n1][n2]
#define POLYBENCH_3D(a, n1, n2, n3, m1, m2, m3) a[n1][n2][n3]
#endif
