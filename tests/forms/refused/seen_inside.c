/* What a pointer sees as another type is set inside an expression. */
int f(char a[8]) { unsigned char *p = (unsigned char *)a; int s = 0; for (int i = 0; i < 8; i++) s += *p++ = i * 40; return s; }
