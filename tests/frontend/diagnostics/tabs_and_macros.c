#define IDX(k) (k) * (k)
#define N 80
void f(int a[64]) {
	for (int i = 0; i < N; i++)
		for (int j = 0; j < IDX(i); j++)
			a[i] += N; /* x */ a[N] = M;
}
