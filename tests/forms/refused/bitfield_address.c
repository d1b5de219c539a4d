/* A bit-field has no address. */
struct flags { unsigned ready : 1, error : 1; };
static void set(unsigned *flag) { *flag = 1; }
void mark(struct flags *f) { set(&f->ready); }
