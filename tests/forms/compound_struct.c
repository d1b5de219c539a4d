/* Structures made in place. */
struct complex { int re, im; };
static struct complex mul(struct complex a, struct complex b)
{
  return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
void turn(struct complex z[10])
{
  for (int i = 0; i < 10; i++)
    z[i] = mul(z[i], (struct complex){.re = 3, .im = i});
}
