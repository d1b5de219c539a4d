// --function scaled
#define N 40
static void scaled(int n, int by, int unused, float a[N])
{
  for (int i = 0; i < n; i++)
    a[i] *= by;
}
int main(void)
{
  static float a[N];
  int n = N;
  scaled(n, 3, 1, a);
  scaled(n, 3, 1, a + 0);
  return 0;
}
