#define IDX(k) (k) * (k)
#define N 80
void f(int a[64]) {
	for (int i = 0; i < N; i++)
		a[IDX(i)] = N + a[N]; /* x */ a[N] = M;
}
