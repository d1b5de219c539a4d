/* Two convolutions of 3 x 3 with normalisations, and what went in added to what comes out, in single precision. */

#include <math.h>

void residual(const float x[16][58][58], const float w1[16][16][3][3], const float scale1[16], const float shift1[16],
              const float w2[16][16][3][3], const float scale2[16], const float shift2[16], float y[16][56][56])
{
  float h[16][58][58], s[16][56][56], t[16][56][56];

  for (int i = 0; i < 58; i++)
    for (int o = 0; o < 16; o++)
      for (int j = 0; j < 58; j++)
        h[o][i][j] = 0.0f;
  for (int i = 0; i < 56; i++) {
    for (int o = 0; o < 16; o++)
      for (int j = 0; j < 56; j++) {
        s[o][i][j] = 0.0f;
        for (int c = 0; c < 16; c++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              s[o][i][j] += x[c][i + p][j + q] * w1[o][c][p][q];
      }
    for (int o = 0; o < 16; o++)
      for (int j = 0; j < 56; j++)
        h[o][i + 1][j + 1] = fmaxf(s[o][i][j] * scale1[o] + shift1[o], 0.0f);
  }
  for (int i = 0; i < 56; i++) {
    for (int o = 0; o < 16; o++)
      for (int j = 0; j < 56; j++) {
        t[o][i][j] = 0.0f;
        for (int c = 0; c < 16; c++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              t[o][i][j] += h[c][i + p][j + q] * w2[o][c][p][q];
      }
    for (int o = 0; o < 16; o++)
      for (int j = 0; j < 56; j++)
        y[o][i][j] = fmaxf(t[o][i][j] * scale2[o] + shift2[o] + x[o][i + 1][j + 1], 0.0f);
  }
}
