#define NULL ((void *)0)
#define offsetof(type, member) ((size_t)&((type *)0)->member)
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef int wchar_t;
typedef struct { long long a; long double b; } max_align_t;
