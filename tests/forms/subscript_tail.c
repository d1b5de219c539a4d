/* A phase that starts elsewhere. */
void polyphase(const int x[20], int acc[3])
{
  int phase = 7;
  for (int i = 0; i < 20; i++) {
    if (phase < 3)
      acc[phase] += x[i];
    phase = phase >= 5 ? phase - 4 : (phase + 1) % 3;
  }
}
