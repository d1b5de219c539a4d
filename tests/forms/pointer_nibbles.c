/* A pointer moves in every other iteration: two samples are in one byte. */
void unpack(const unsigned char in[4], short out[8])
{
  int sum = 0, second = 0, byte = 0;
  const unsigned char *next = in;
  for (int i = 0; i < 8; i++) {
    int sample;
    if (second)
      sample = byte & 15;
    else {
      byte = *next++;
      sample = byte >> 4;
    }
    second = !second;
    sum += sample - 8;
    out[i] = sum;
  }
}
