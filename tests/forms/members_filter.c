/* A filter whose state and place in it outlive the call */
struct filter {
  const int *taps;
  int *delayed;
  unsigned char at;
};
static int next(const struct filter *f, int x)
{
  int sum = f->taps[0] * x;
  for (int k = 1; k < 8; k++)
    sum += f->taps[k] * f->delayed[(f->at - k) & 7];
  f->delayed[f->at & 7] = x;
  return sum >> 4;
}
void run(struct filter *f, const int x[20], int y[20])
{
  for (int i = 0; i < 20; i++) {
    y[i] = next(f, x[i]);
    f->at++;
  }
}
