/* Probabilities of scores. */
#include <math.h>
void softmax(const float x[10], float y[10])
{
  float most = x[0], sum = 0;
  for (int i = 1; i < 10; i++)
    most = fmaxf(most, x[i]);
  for (int i = 0; i < 10; i++) {
    y[i] = expf(x[i] - most);
    sum += y[i];
  }
  for (int i = 0; i < 10; i++)
    y[i] /= sum;
}
