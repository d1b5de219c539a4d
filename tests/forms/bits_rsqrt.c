/* One over a root, by the bits of a float. */
void rsqrt(float x[16])
{
  for (int i = 0; i < 16; i++) {
    union { float f; int i; } both = {x[i]};
    float half = 0.5f * x[i];
    both.i = 0x5f3759df - (both.i >> 1);
    x[i] = both.f * (1.5f - half * both.f * both.f);
  }
}
