/* A small machine, and a program of one-letter commands. */
int run(const char program[12], int start)
{
  int a = start, b = 0;
  for (int pc = 0; pc < 12; pc++) {
    switch (program[pc]) {
    case '0': case '1': case '2': case '3':
      b = program[pc] - '0';
      break;
    case '+':
      a += b;
      continue;
    case '-':
      a -= b;
      continue;
    case 'q':
      return a;
    }
    a ^= 1;
  }
  return a;
}
