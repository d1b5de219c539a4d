typedef unsigned long thrd_t;
typedef struct { long state[5]; } mtx_t;
