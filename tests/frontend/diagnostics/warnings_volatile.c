volatile int status;
static int unused(volatile int *p) { return *p; }
void f(volatile int a[4], int *volatile out) {
  for (volatile int i = 0; i < 4; i++)
    out[i] = a[i] + status;
}
