/* Decimal digits of a number, the last one first. */
int digits(unsigned value, char text[10])
{
  int n = 0;
  while (value != 0) {
    text[n++] = '0' + value % 10;
    value /= 10;
  }
  return n;
}
