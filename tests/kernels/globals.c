// Arrays and a counter in file scope.
#define N 12
int input[N], output[N];
unsigned runs;
void globals(void) {
  runs++;
  for (int i = 0; i < N; i++)
    output[N - 1 - i] = input[i] + (int)runs;
}
