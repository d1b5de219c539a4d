/* A small arithmetic unit. */
enum op { ADD, SUB, AND, OR, XOR, SHL };
void alu(const enum op code[12], const int a[12], const int b[12], int out[12])
{
  for (int i = 0; i < 12; i++) {
    switch (code[i]) {
    case ADD: out[i] = a[i] + b[i]; break;
    case SUB: out[i] = a[i] - b[i]; break;
    case AND: out[i] = a[i] & b[i]; break;
    case OR: out[i] = a[i] | b[i]; break;
    case XOR: out[i] = a[i] ^ b[i]; break;
    case SHL: out[i] = a[i] << (b[i] & 31); break;
    default: out[i] = 0;
    }
  }
}
