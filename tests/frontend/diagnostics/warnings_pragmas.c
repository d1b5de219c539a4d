#pragma once
#pragma GCC diagnostic push
void f(int a[8], int b[8]) {
#pragma HLS INTERFACE mode=ap_memory port=a
#pragma HLS PIPELINE II=1
#pragma omp parallel for simd reduction(+ : a)
  for (int i = 0; i < 8; i++)
#pragma GCC unroll 4
#pragma vendor special
    a[i] += b[i];
}
