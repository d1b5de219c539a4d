/* The places of a transform in strides: bits are set in the iterator itself. */
void transform(int re[16], int im[16])
{
  for (int span = 8; span; span >>= 1)
    for (int odd = span; odd < 16; odd++) {
      odd |= span;
      int even = odd ^ span;
      int t = re[even] + re[odd];
      re[odd] = re[even] - re[odd];
      re[even] = t;
      t = im[even] + im[odd];
      im[odd] = im[even] - im[odd];
      im[even] = t;
    }
}
