/* The hyperbolic cosine: what cosh.c and coshf.c have in common. */
#pragma once
#include "_exp.c"

/* cosh x 2^(1 - k), from 1 to 4.2, in units of 2^-61; |x| = 2^(exponent - 1075) m */
static uint64_t rtlgen_cosh_of(int exponent, uint64_t m, int k)
{
  int l = rtlgen_exp_power(1, exponent, m);
  return rtlgen_exp_more(rtlgen_exp_of(0, exponent, m, k), rtlgen_exp_of(1, exponent, m, l), k - l);
}
