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

/* How far loops run is given when they start, unless it is to be known before. */
#ifdef POLYBENCH_USE_SCALAR_LB
#define POLYBENCH_LOOP_BOUND(size, given) size
#else
#define POLYBENCH_LOOP_BOUND(size, given) given
#endif

#define POLYBENCH_1D(a, n, m) a[n]
#define POLYBENCH_2D(a, n1, n2, m1, m2) a[n1][n2]
#define POLYBENCH_3D(a, n1, n2, n3, m1, m2, m3) a[n1][n2][n3]

/* What main declares, and hands over. */
#define POLYBENCH_DECL_VAR(a) (*a)
#define POLYBENCH_ARRAY(a) *a
#define POLYBENCH_1D_ARRAY_DECL(a, type, n, m) \
  type POLYBENCH_1D(POLYBENCH_DECL_VAR(a), n, m); \
  a = (type(*)[n])polybench_alloc_data(n, sizeof(type));
#define POLYBENCH_2D_ARRAY_DECL(a, type, n1, n2, m1, m2) \
  type POLYBENCH_2D(POLYBENCH_DECL_VAR(a), n1, n2, m1, m2); \
  a = (type(*)[n1][n2])polybench_alloc_data((n1) * (n2), sizeof(type));
#define POLYBENCH_3D_ARRAY_DECL(a, type, n1, n2, n3, m1, m2, m3) \
  type POLYBENCH_3D(POLYBENCH_DECL_VAR(a), n1, n2, n3, m1, m2, m3); \
  a = (type(*)[n1][n2][n3])polybench_alloc_data((n1) * (n2) * (n3), sizeof(type));
void *polybench_alloc_data(unsigned long long count, int bytes);

#endif
