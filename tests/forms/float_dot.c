/* A dot product. */
float dot(const float a[32], const float b[32])
{
  float sum = 0;
  for (int i = 0; i < 32; i++)
    sum += a[i] * b[i];
  return sum;
}
