/* Members of sixteen bits, in an array. */
union sample { short value; unsigned short bits; };
void rectify(union sample s[12])
{
  for (int i = 0; i < 12; i++) {
    if (s[i].value < 0)
      s[i].bits = ~s[i].bits;
    s[i].bits |= 1;
  }
}
