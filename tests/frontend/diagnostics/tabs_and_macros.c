#define IDX(k) (k) * (k)
#define N 80
static void set(int *p, int v) { p[0] = v; }
void f(int a[64]) {
	for (int i = 0; i < N; i++)
		set(&a[IDX(i)], N + a[N]); /* x */ a[N] = M;
}
