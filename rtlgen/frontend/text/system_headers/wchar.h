#include <stddef.h>
#include <stdint.h>
typedef unsigned int wint_t;
size_t wcslen(const wchar_t *text);
