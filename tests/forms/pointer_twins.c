/* Two pointers walk towards each other. */
void reverse(short a[15])
{
  short *left = a, *right = &a[14];
  while (left < right) {
    short held = *left;
    *left++ = *right;
    *right-- = held;
  }
}
