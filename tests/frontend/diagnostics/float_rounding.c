#include <fenv.h>
void f(float a[8]) {
  fesetround(FE_UPWARD);
  for (int i = 0; i < 8; i++) a[i] *= 0.5f;
}
