typedef long jmp_buf[25];
int setjmp(jmp_buf state);
void longjmp(jmp_buf state, int value);
