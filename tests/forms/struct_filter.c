/* The state of a filter is a structure. */
typedef struct { int z1, z2; } state_t;
typedef struct { short b0, b1, b2, a1, a2; } coeffs_t;
static int biquad(state_t *s, const coeffs_t *c, int x)
{
  int y = (c->b0 * x + s->z1) >> 8;
  s->z1 = c->b1 * x - c->a1 * y + s->z2;
  s->z2 = c->b2 * x - c->a2 * y;
  return y;
}
void filter(state_t *state, const coeffs_t coeffs, const short in[16], int out[16])
{
  for (int n = 0; n < 16; n++)
    out[n] = biquad(state, &coeffs, in[n]);
}
