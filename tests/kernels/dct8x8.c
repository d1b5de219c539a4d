// An 8 x 8 cosine transform in fixed point: rows, then columns.
#include <stdint.h>
#define ROUND(x) (((x) + 1024) >> 11)
static const int16_t basis[8][8] = {
    {1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024},
    {1420, 1204, 805, 283, -283, -805, -1204, -1420},
    {1338, 554, -554, -1338, -1338, -554, 554, 1338},
    {1204, -283, -1420, -805, 805, 1420, 283, -1204},
    {1024, -1024, -1024, 1024, 1024, -1024, -1024, 1024},
    {805, -1420, 283, 1204, -1204, -283, 1420, -805},
    {554, -1338, 1338, -554, -554, 1338, -1338, 554},
    {283, -805, 1204, -1420, 1420, -1204, 805, -283},
};
void dct8x8(const int16_t in[8][8], int32_t out[8][8]) {
  int32_t rows[8][8];
  for (int i = 0; i < 8; i++)
    for (int u = 0; u < 8; u++) {
      int32_t sum = 0;
      for (int j = 0; j < 8; j++)
        sum += in[i][j] * basis[u][j];
      rows[i][u] = ROUND(sum);
    }
  for (int v = 0; v < 8; v++)
    for (int u = 0; u < 8; u++) {
      int32_t sum = 0;
      for (int i = 0; i < 8; i++)
        sum += rows[i][u] * basis[v][i];
      out[v][u] = ROUND(sum);
    }
}
