/* A layer with tanh. */
#include <math.h>
void layer(const float w[4][6], const float x[6], const float bias[4], float y[4])
{
  for (int i = 0; i < 4; i++) {
    float sum = bias[i];
    for (int j = 0; j < 6; j++)
      sum += w[i][j] * x[j];
    y[i] = tanhf(sum);
  }
}
