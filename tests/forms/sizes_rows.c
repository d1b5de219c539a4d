/* Compressed sparse rows in floating point; that rows and columns are in range is asserted. */
#include <assert.h>
void spmv(const float value[20], const int column[20], const int row[7], const float x[6],
          float y[6])
{
  for (int i = 0; i < 6; i++) {
    float sum = 0.0f;
    assert(row[i] >= 0 && row[i] <= 20);
    assert(row[i + 1] >= 0 && row[i + 1] <= 20);
    for (int k = row[i]; k < row[i + 1]; k++) {
      assert(column[k] >= 0 && column[k] < 6);
      sum += value[k] * x[column[k]];
    }
    y[i] = sum;
  }
}
