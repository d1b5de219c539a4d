// Every third sum is put out, odd and even samples part, and both ends move towards each other.
#define N 24
void decimate(const short in[N], int out[N / 3], short odd[N / 2], short even[N / 2], int ends[N]) {
  int sum = 0, n = 0, p = 0, q = 0;
  short *unused;
  for (int i = 0; i < N; i++) {
    sum += in[i] * (i + 1);
    if (i % 3 == 2) {
      out[n++] = sum;
      sum = 0;
    }
    if (i & 1)
      odd[p++] = in[i] ^ i;
    else
      even[q++] = in[i] - i;
  }
  for (int lo = 0, hi = N - 1; lo < hi; lo += 2, hi--) {
    int held = ends[lo];
    ends[lo] = ends[hi] + out[lo / 3];
    ends[hi] = held;
  }
}
