/* Computed in float, kept in half precision. */
void blend(const _Float16 a[16], const _Float16 b[16], float weight, _Float16 y[16])
{
  for (int i = 0; i < 16; i++)
    y[i] = (float)a[i] * weight + (float)b[i] * (1.0f - weight);
}
