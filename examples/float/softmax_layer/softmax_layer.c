/* The last layer of a classifier: y = softmax(W * x + b), in single precision. */

#include <math.h>

#define INPUTS 32
#define CLASSES 10

void softmax_layer(const float W[CLASSES][INPUTS], const float x[INPUTS], const float b[CLASSES], float y[CLASSES])
{
  float score[CLASSES];

  for (int i = 0; i < CLASSES; i++) {
    score[i] = b[i];
    for (int j = 0; j < INPUTS; j++)
      score[i] += W[i][j] * x[j];
  }

  float most = score[0];
  for (int i = 1; i < CLASSES; i++)
    most = fmaxf(most, score[i]);

  float total = 0.0f;
  for (int i = 0; i < CLASSES; i++) {
    y[i] = expf(score[i] - most);
    total += y[i];
  }
  for (int i = 0; i < CLASSES; i++)
    y[i] /= total;
}
