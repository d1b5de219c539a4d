#include <stddef.h>
int strcasecmp(const char *left, const char *right);
int strncasecmp(const char *left, const char *right, size_t size);
void bzero(void *target, size_t size);
void bcopy(const void *source, void *target, size_t size);
static int ffs(int x) { return __builtin_ffs(x); }
static int ffsl(long x) { return __builtin_ffsl(x); }
static int ffsll(long long x) { return __builtin_ffsll(x); }
