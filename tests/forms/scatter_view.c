/* A function is handed a part of an array that data chooses. */
static void bump(int *p)
{
  p[0]++;
  p[1]--;
}
void bumps(const unsigned char x[16], int a[256])
{
  for (int i = 0; i < 16; i++)
    bump(&a[x[i] & 127]);
}
