// Only what stands between the pragmas is the circuit.
#define N 12
void scop_region(int a[N], int b[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    b[i] = a[i] * 3;
  for (int i = 1; i < N; i++)
    b[i] += b[i - 1];
#pragma endscop
}
