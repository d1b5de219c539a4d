/* What the host's floating point makes of many operands; without contraction. */

#include <math.h>
#include <stdint.h>

void fma_float(int64_t n, const float* a, const float* b, const float* c, float* r) {
    for (int64_t i = 0; i < n; i++) r[i] = fmaf(a[i], b[i], c[i]);
}

void fma_double(int64_t n, const double* a, const double* b, const double* c, double* r) {
    for (int64_t i = 0; i < n; i++) r[i] = fma(a[i], b[i], c[i]);
}
