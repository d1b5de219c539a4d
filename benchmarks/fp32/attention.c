/* Self-attention in 8 heads: y = (softmax(Q * K^T / 4) * V) * Wo + bo, Q, K, V = x * W + b, in single precision. */

#include <math.h>

void attention(const float x[64][128], const float wq[128][128], const float bq[128], const float wk[128][128],
               const float bk[128], const float wv[128][128], const float bv[128], const float wo[128][128],
               const float bo[128], float y[64][128])
{
  float q[8][64][16], k[8][64][16], v[8][64][16], s[8][64][64], m[8][64], e[8][64][64], d[8][64], z[8][64][16];

  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 128; j++)
      y[i][j] = bo[j];
  for (int h = 0; h < 8; h++) {
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 16; j++) {
        q[h][i][j] = bq[16 * h + j];
        k[h][i][j] = bk[16 * h + j];
        v[h][i][j] = bv[16 * h + j];
        for (int l = 0; l < 128; l++) {
          q[h][i][j] += x[i][l] * wq[16 * h + j][l];
          k[h][i][j] += x[i][l] * wk[16 * h + j][l];
          v[h][i][j] += x[i][l] * wv[16 * h + j][l];
        }
      }
    for (int i = 0; i < 64; i++) {
      m[h][i] = -INFINITY;
      for (int j = 0; j < 64; j++) {
        s[h][i][j] = 0.0f;
        for (int l = 0; l < 16; l++)
          s[h][i][j] += q[h][i][l] * k[h][j][l];
        m[h][i] = fmaxf(m[h][i], s[h][i][j] * 0.25f);
      }
      d[h][i] = 0.0f;
      for (int j = 0; j < 64; j++) {
        e[h][i][j] = expf(s[h][i][j] * 0.25f - m[h][i]);
        d[h][i] += e[h][i][j];
      }
      for (int j = 0; j < 16; j++) {
        z[h][i][j] = 0.0f;
        for (int l = 0; l < 64; l++)
          z[h][i][j] += e[h][i][l] / d[h][i] * v[h][l][j];
      }
    }
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 128; j++)
        for (int l = 0; l < 16; l++)
          y[i][j] += z[h][i][l] * wo[j][16 * h + l];
  }
}
