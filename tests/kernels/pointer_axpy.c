// y := a*x + y over pointers without extents.
#define N 20
void pointer_axpy(int alpha, const int *x, int *y) {
  for (int i = 0; i < N; i++)
    *(y + i) = alpha * x[i] + *(y + i);
}
