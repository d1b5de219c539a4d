/* A window of an array, which goes on being written by its own name. */
void decay(int x[20])
{
  int *last = &x[16];
  for (int i = 0; i < 16; i++)
    x[i + 4] -= x[i] >> 2;
  for (int k = 0; k < 4; k++)
    last[k] ^= last[k - 4];
}
