/* Attention of one head: two products, and between them the exponentials of a row by their sum. */
#include <math.h>

void attention(const float q[64][32], const float k[64][32], const float v[64][32],
               float out[64][32])
{
  for (int i = 0; i < 64; i++) {
    float weight[64], most = -1e30f, sum = 0;
    for (int j = 0; j < 64; j++) {
      float product = 0;
      for (int d = 0; d < 32; d++) product += q[i][d] * k[j][d];
      weight[j] = product * 0.17677669f;
      most = fmaxf(most, weight[j]);
    }
    for (int j = 0; j < 64; j++) {
      weight[j] = expf(weight[j] - most);
      sum += weight[j];
    }
    for (int d = 0; d < 32; d++) {
      float mean = 0;
      for (int j = 0; j < 64; j++) mean += weight[j] * v[j][d];
      out[i][d] = mean / sum;
    }
  }
}
