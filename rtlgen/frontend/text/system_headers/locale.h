#define LC_ALL 6
char *setlocale(int category, const char *name);
