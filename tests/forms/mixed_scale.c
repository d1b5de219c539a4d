/* Integers scaled by a number that is no float. */
void scale(const short x[16], float y[16])
{
  for (int i = 0; i < 16; i++)
    y[i] = x[i] * 0.1 + i / 4;
}
