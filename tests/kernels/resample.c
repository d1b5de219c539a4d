// Every third of five samples goes to two new places, the others between them.
#define N 45

void resample(const int x[N], int y[(5 * N) / 3], int pairs[N])
{
  int k = 0;
  for (int i = 0; i < N; i++)
    y[5 * i / 3] += x[i] * (i + 1);
  for (int i = 0; i < N - 1; i += 2) {
    pairs[k++] = x[i] + x[i + 1];
    pairs[k++] = x[i] - x[i + 1];
  }
  pairs[k] = x[N - 1];
}
