/* Integers in the order of floats. */
void keys(const float x[16], unsigned key[16])
{
  for (int i = 0; i < 16; i++) {
    float value = x[i];
    unsigned bits = *(unsigned *)&value;
    key[i] = bits >> 31 ? ~bits : bits | 0x80000000u;
  }
}
