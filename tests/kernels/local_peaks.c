// Numbers the elements, those greater than both neighbours from 100 on.
#define N 24
void local_peaks(const short a[N], unsigned char peak[N]) {
  for (int i = 0; i < N; i++) {
    peak[i] = i;
    if (i > 0 && i < N - 1 && a[i] > a[i - 1] && a[i] > a[i + 1])
      peak[i] = 100 + i;
  }
}
