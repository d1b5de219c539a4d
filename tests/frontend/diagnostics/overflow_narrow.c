#include <stdint.h>
void f(int a[256]) {
  for (uint8_t i = 0; i < 256; i++)
    a[i] = 0;
  for (int i = 7; i >= 0u; i--)
    a[i] = 0;
}
