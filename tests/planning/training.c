/* Two layers are trained, a sample at a time: what one has changed the next one reads. */
void training(float first[64][64], float second[64][64], const float samples[32][64],
              const float wanted[32][64])
{
  for (int s = 0; s < 32; s++) {
    float hidden[64], off[64], back[64];
    for (int i = 0; i < 64; i++) {
      float sum = 0;
      for (int j = 0; j < 64; j++) sum += first[i][j] * samples[s][j];
      hidden[i] = sum > 0 ? sum : 0;
    }
    for (int i = 0; i < 64; i++) {
      float sum = 0;
      for (int j = 0; j < 64; j++) sum += second[i][j] * hidden[j];
      off[i] = sum - wanted[s][i];
    }
    for (int i = 0; i < 64; i++) {
      float sum = 0;
      for (int j = 0; j < 64; j++) sum += off[j] * second[j][i];
      back[i] = hidden[i] > 0 ? sum : 0;
    }
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 64; j++) second[i][j] -= off[i] * hidden[j] * 0.01f;
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 64; j++) first[i][j] -= back[i] * samples[s][j] * 0.01f;
  }
}
