// One stage of a transform: butterflies between the halves, weights from a table.
#define N 20
void fft_stage(int re[2 * N], int im[2 * N], const short wr[N], const short wi[N]) {
  for (int k = 0; k < N; k++) {
    int tr = (wr[k] * (re[k + N] >> 16)) - (wi[k] * (im[k + N] >> 16));
    int ti = (wr[k] * (im[k + N] >> 16)) + (wi[k] * (re[k + N] >> 16));
    re[k + N] = re[k] - tr;
    im[k + N] = im[k] - ti;
    re[k] += tr;
    im[k] += ti;
  }
}
