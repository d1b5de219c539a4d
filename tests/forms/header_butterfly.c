/* Walsh-Hadamard transform: the step doubles. */
void transform(int x[16])
{
  for (int h = 1; h < 16; h *= 2)
    for (int i = 0; i < 16; i += 2 * h)
      for (int j = i; j < i + h; j++) {
        int a = x[j], b = x[j + h];
        x[j] = a + b;
        x[j + h] = a - b;
      }
}
