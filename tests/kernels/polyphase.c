// A decimating filter whose taps run backwards through the signal.
#define TAPS 6
#define OUT 20
void polyphase(const short h[TAPS], const short x[2 * OUT + TAPS], int y[OUT]) {
  for (int n = 0; n < OUT; n++) {
    y[n] = 0;
    for (int k = TAPS - 1; k >= 0; k--)
      y[n] += h[k] * x[2 * n + TAPS - 1 - k];
  }
}
