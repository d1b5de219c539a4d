// A hash of a running seed: the parameter itself is worked on, as the author found it short.
typedef unsigned int uint;

static uint hash(uint a)
{
  a = (a ^ 61) ^ (a >> 16);
  a = a + (a << 3);
  a = a ^ (a >> 4);
  a = a * 0x27d4eb2d;
  return a ^ (a >> 15);
}

void seeded(int salt, uint seed, uint out[32])
{
  int i;
  seed += salt;
  for (i = 0; i < 16; i++) {
    seed = hash(seed);
    out[i] = seed;
  }
  for (; i < 32; i++)
    out[i] = out[i - 16] ^ (seed >> (i & 7));
}
