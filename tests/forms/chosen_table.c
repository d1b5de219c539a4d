/* Tables that a `switch` chooses */
static const int ramp[8] = {0, 1, 2, 3, 4, 5, 6, 7}, wave[8] = {0, 7, 9, 7, 0, -7, -9, -7};
int synthesise(const unsigned char notes[24], const int own[8], int y[24])
{
  int most = 0;
  for (int i = 0; i < 24; i++) {
    const int *table;
    switch (notes[i] >> 6) {
    case 0:
      table = ramp;
      break;
    case 1:
      table = wave;
      break;
    default:
      table = own;
    }
    y[i] = table[notes[i] & 7] * (notes[i] >> 3 & 7);
    most = y[i] > most ? y[i] : most;
  }
  return most;
}
