/* What the function does is nowhere. */
int A[6], x[6];
int dummy(void);
void kernel(void)
{
  for (int i = 0; i < 6; i++)
    A[i] += x[i];
  dummy();
  for (int i = 0; i < 6; i++)
    x[i] = A[i] >> 2;
}
