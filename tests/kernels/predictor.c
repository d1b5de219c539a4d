// A delta coder with a saturating prediction, as speech coders have.
#define N 24
static int limited(int x) {
  if (x > 32767)
    return 32767;
  else if (x < -32768)
    return -32768;
  return x;
}
int predictor(const short in[N], short out[N]) {
  int predicted = 0, step = 16;
  for (int i = 0; i < N; i++) {
    int difference = in[i] - predicted;
    int sign = difference < 0;
    if (sign)
      difference = -difference;
    int code = difference > step ? 7 : difference > step / 2 ? 3 : 1;
    int delta = (step * code) >> 2;
    predicted = limited(sign ? predicted - delta : predicted + delta);
    step = limited(step + (code > 3 ? step >> 1 : -(step >> 2)) + 8);
    out[i] = predicted;
  }
  return step;
}
