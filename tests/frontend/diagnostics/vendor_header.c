#include <stdint.h>
#include <ap_int.h>
#define WIDTH 12
void scale(ap_int<WIDTH> a[8]) {
  for (int i = 0; i < 8; i++)
    a[i] *= 3;
}
