// Linear interpolation between samples.
#define N 12
void upsample(const short in[N + 1], short out[2 * N]) {
  for (int i = 0; i < N; i++) {
    int at = 2 * i;
    out[at] = in[i];
    at += 1;
    out[at] = (in[i] + in[i + 1]) >> 1;
  }
}
