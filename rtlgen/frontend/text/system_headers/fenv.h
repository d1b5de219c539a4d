#define FE_TONEAREST 0
int fesetround(int mode);
int fegetround(void);
